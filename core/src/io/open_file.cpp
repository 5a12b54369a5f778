// SPDX-License-Identifier: Apache-2.0
// Opens and reads files with errors that name the file.
#include <creek/core/io/open_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <creek/core/error.hpp>

namespace creek {
namespace {

constexpr int for_reading = O_RDONLY | O_CLOEXEC | O_NOCTTY;

void check_regular(const struct stat& facts, const std::string& name) {
  if (S_ISDIR(facts.st_mode)) throw error(EISDIR, name);
  if (S_ISLNK(facts.st_mode)) throw error(ENOTSUP, name + ": a symbolic link, not followed");
  if (!S_ISREG(facts.st_mode)) throw error(ENOTSUP, name + ": not a regular file");
}

int open_regular(const std::string& name, symbolic_links links) {
  const int own = links == symbolic_links::follow ? 0 : AT_SYMLINK_NOFOLLOW;
  struct stat facts {};
  if (fstatat(AT_FDCWD, name.c_str(), &facts, own) != 0) throw error(errno, name);
  check_regular(facts, name);
  // The name may belong to another file now: opening a pipe would block without O_NONBLOCK.
  return open(name.c_str(), for_reading | O_NONBLOCK | (own != 0 ? O_NOFOLLOW : 0));
}

}  // namespace

open_file::open_file(std::string name, int descriptor)
    : name_(std::move(name)), descriptor_(descriptor) {
  if (descriptor_ < 0) throw error(errno, name_);
}

open_file::open_file(const std::string& name)
    : open_file(name == "-" ? "standard input" : name,
                name == "-" ? dup(STDIN_FILENO) : open(name.c_str(), for_reading)) {}

open_file::open_file(const std::string& name, symbolic_links links)
    : open_file(name, open_regular(name, links)) {
  struct stat facts {};
  if (fstat(descriptor_, &facts) != 0) throw error(errno, name_);
  check_regular(facts, name_);
}

open_file::~open_file() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::size_t open_file::read(char* to, std::size_t bytes) const {
  for (;;) {
    const ssize_t got = ::read(descriptor_, to, bytes);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) throw error(errno, name_);
  }
}

}  // namespace creek

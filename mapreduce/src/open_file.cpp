// SPDX-License-Identifier: Apache-2.0
// Opening and reading with errors that name the file.
#include <creek/mapreduce/open_file.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <creek/core/error.hpp>

namespace creek::mapreduce {

open_file::open_file(std::string name) : name_(std::move(name)), descriptor_(-1) {
  if (name_ == "-") {
    name_ = "standard input";
    descriptor_ = dup(STDIN_FILENO);
  } else {
    descriptor_ = open(name_.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  }
  if (descriptor_ < 0) throw error(errno, name_);
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

}  // namespace creek::mapreduce

// SPDX-License-Identifier: Apache-2.0
// O_TMPFILE plus linkat and rename, with a hidden named file where the file system has no nameless
// ones. linkat cannot replace a file, hence the short-lived name before the rename.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include <creek/core/error.hpp>
#include <creek/core/io/atomic_file.hpp>

namespace creek {
namespace {

constexpr std::size_t buffer_size = 64 << 10;

/// Returns a hidden name beside `target` that no other object of this process has.
std::filesystem::path part_of(const std::filesystem::path& target) {
  static std::atomic<std::uint64_t> last{0};
  const std::uint64_t number = last.fetch_add(1, std::memory_order_relaxed);
  return target.parent_path() /
         fmt::format(".{}.{}.{}.part", target.filename().string(), getpid(), number);
}

}  // namespace

atomic_file::atomic_file(const std::filesystem::path& target, targets may_be) : target_(target) {
  std::error_code absent;  // a path that does not resolve is used as it was given
  if (may_be == targets::any) {
    if (auto real = std::filesystem::canonical(target, absent); !absent) target_ = std::move(real);
  }
  struct stat old {};
  const int known =
      may_be == targets::any ? stat(target_.c_str(), &old) : lstat(target_.c_str(), &old);
  const bool exists = known == 0;
  if (exists && S_ISDIR(old.st_mode)) {
    errno = EISDIR;
    fail("cannot write");
  }
  if (exists && !S_ISREG(old.st_mode) && may_be == targets::regular) {
    throw error(ENOTSUP, fmt::format("cannot write {}: {}", target_.string(),
                                     S_ISLNK(old.st_mode) ? "a symbolic link, not followed"
                                                          : "not a regular file"));
  }
  buffer_.reserve(buffer_size);
  if (exists && !S_ISREG(old.st_mode)) {
    open_direct();
    return;
  }
  open_hidden();
  // Losing setuid bits of the old file is right; not being its owner is no reason to fail.
  if (exists) static_cast<void>(fchmod(fd_, old.st_mode & 0777));
}

atomic_file::~atomic_file() {
  if (fd_ >= 0) close(fd_);
  if (named_) unlink(part_.c_str());
}

void atomic_file::fail(const char* doing) const {
  throw error(errno, std::string(doing) + " " + target_.string());
}

void atomic_file::open_direct() {
  direct_ = true;
  fd_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd_ < 0) fail("cannot write");
}

void atomic_file::open_hidden() {
  auto folder = target_.parent_path();
  if (folder.empty()) folder = ".";
  part_ = part_of(target_);
  if (access("/proc/self/fd", X_OK) == 0) {  // commit() needs it to name the file
    fd_ = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  }
  if (fd_ >= 0) return;
  unlink(part_.c_str());  // left by an earlier process with our id, which was killed
  fd_ = open(part_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  if (fd_ < 0) fail("cannot write");
  named_ = true;
}

void atomic_file::write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > buffer_size) flush();
  if (bytes.size() >= buffer_size) {
    write_out(bytes);
  } else {
    buffer_.append(bytes);
  }
}

void atomic_file::flush() {
  write_out(buffer_);
  buffer_.clear();
}

void atomic_file::write_out(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd_, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail("cannot write");
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
}

void atomic_file::sync() {
  if (synced_) return;
  flush();
  // Before the rename, so that a crash of the machine or a full network disk cannot put an empty
  // file in place of a good one.
  if (!direct_ && fsync(fd_) != 0 && errno != EINVAL) fail("cannot write");
  synced_ = true;
}

void atomic_file::prepare() {
  if (prepared_) return;
  sync();
  if (!direct_ && !named_) give_hidden_name();
  prepared_ = true;
}

void atomic_file::give_hidden_name() {
  unlink(part_.c_str());  // left by an earlier process with our id, which was killed
  const std::string self = fmt::format("/proc/self/fd/{}", fd_);
  if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, part_.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    fail("cannot create");
  }
  named_ = true;
}

void atomic_file::commit() {
  prepare();
  if (!direct_) {
    if (rename(part_.c_str(), target_.c_str()) != 0) fail("cannot create");
    named_ = false;
  }
  const int fd = fd_;
  fd_ = -1;
  if (close(fd) != 0 && direct_) fail("cannot write");
}

}  // namespace creek

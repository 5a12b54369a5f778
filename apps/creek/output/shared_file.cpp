// SPDX-License-Identifier: Apache-2.0
#include "shared_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <creek/core/error.hpp>
#include <fstream>
#include <functional>
#include <span>
#include <system_error>

namespace creek::tool {
namespace {

using boot_id = std::array<char, 36>;

/// Returns the number that a machine chooses when it starts, or zeros.
boot_id own_boot_id() {
  boot_id read{};
  std::ifstream("/proc/sys/kernel/random/boot_id").read(read.data(), read.size());
  return read;
}

std::string from_rank_0(std::string text, rank_group& ranks) {
  text.resize(static_cast<std::size_t>(ranks.bcast(std::uint64_t{text.size()}, 0)));
  ranks.bcast(std::span<char>(text), 0);
  return text;
}

}  // namespace

/// Identifies the file that rank 0 has opened.
struct shared_file::opened_file {
  boot_id machine{};
  int process = 0;
  int descriptor = -1;
  std::uint64_t device = 0, number = 0;
  bool named = false;
};

bool shared_file::is_for(const std::string& target, rank_group& ranks) {
  struct stat old {};
  const bool other = stat(target.c_str(), &old) == 0 && !S_ISREG(old.st_mode);
  return !ranks.bcast(other && !S_ISDIR(old.st_mode), 0);
}

shared_file::shared_file(const std::string& target, rank_group& ranks)
    : ranks_(&ranks), target_(target) {
  opened_file first;
  if (ranks.rank() == 0) {
    std::error_code absent;  // a path that does not resolve is used as it was given
    if (auto real = std::filesystem::canonical(target_, absent); !absent) target_ = std::move(real);
    make();
    struct stat made {};
    if (fstat(fd_, &made) != 0) fail("cannot write");
    first = {own_boot_id(), getpid(), fd_, made.st_dev, made.st_ino, named_};
  }
  target_ = from_rank_0(target_.string(), ranks);
  first = ranks.bcast(first, 0);
  part_ = target_.parent_path() /
          fmt::format(".{}.{}.part", target_.filename().string(), first.process);
  if (ranks.rank() != 0) open_as(first);
  if (ranks.allreduce(fd_ < 0 ? 1 : 0, std::plus{}) != 0) {  // a rank is on another machine
    if (ranks.rank() == 0 && !named_) give_hidden_name();
    named_ = ranks.bcast(true, 0);
    if (fd_ < 0) fd_ = open(part_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) fail("this rank does not see the output of rank 0,");
  }
  buffer_.reserve(buffer_bytes);
}

shared_file::~shared_file() {
  if (fd_ >= 0) close(fd_);
  if (named_) unlink(part_.c_str());
}

void shared_file::fail(const char* doing) const {
  throw error(errno, std::string(doing) + " " + target_.string());
}

void shared_file::make() {
  struct stat old {};
  const bool exists = stat(target_.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) {
    errno = EISDIR;
    fail("cannot write");
  }
  const auto folder = target_.has_parent_path() ? target_.parent_path() : ".";
  if (access("/proc/self/fd", X_OK) == 0) {  // give_hidden_name() needs it
    fd_ = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  }
  if (fd_ < 0) {
    part_ =
        target_.parent_path() / fmt::format(".{}.{}.part", target_.filename().string(), getpid());
    unlink(part_.c_str());  // left by an earlier process with our id, which was killed
    fd_ = open(part_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (fd_ < 0) fail("cannot write");
    named_ = true;
  }
  if (exists) static_cast<void>(fchmod(fd_, old.st_mode & 0777));
}

void shared_file::open_as(const opened_file& first) {
  named_ = first.named;
  if (named_) {
    fd_ = open(part_.c_str(), O_WRONLY | O_CLOEXEC);
    return;
  }
  if (first.machine == boot_id{} || first.machine != own_boot_id()) return;
  const std::string name = fmt::format("/proc/{}/fd/{}", first.process, first.descriptor);
  fd_ = open(name.c_str(), O_WRONLY | O_CLOEXEC);
  // Ranks of one machine may be in containers that have processes of the same id.
  struct stat found {};
  if (fd_ >= 0 &&
      (fstat(fd_, &found) != 0 || found.st_dev != first.device || found.st_ino != first.number)) {
    close(fd_);
    fd_ = -1;
  }
}

void shared_file::give_hidden_name() {
  unlink(part_.c_str());
  const std::string self = fmt::format("/proc/self/fd/{}", fd_);
  if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, part_.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    fail("cannot create");
  }
  named_ = true;
}

void shared_file::begin(std::uint64_t bytes) {
  offset_ = ranks_->exclusive_scan(bytes, std::plus{}, std::uint64_t{0});
}

void shared_file::flush() {
  for (std::string_view left = buffer_; !left.empty();) {
    const ssize_t done = pwrite(fd_, left.data(), left.size(), static_cast<off_t>(offset_));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail("cannot write");
    left.remove_prefix(static_cast<std::size_t>(done));
    offset_ += static_cast<std::uint64_t>(done);
  }
  buffer_.clear();
}

void shared_file::commit() {
  // Before the rename, so that a crash of the machine or a full network disk cannot put a part of
  // the file in place of a good one.
  if (fsync(fd_) != 0 && errno != EINVAL) fail("cannot write");
  static_cast<void>(ranks_->allreduce(1, std::plus{}));  // all parts are written
  if (ranks_->rank() == 0) {
    if (!named_) give_hidden_name();
    if (rename(part_.c_str(), target_.c_str()) != 0) fail("cannot create");
  }
  named_ = false;
}

}  // namespace creek::tool

// SPDX-License-Identifier: Apache-2.0
#include "source_file.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <creek/core/error.hpp>

namespace creek::tpch {
namespace {

file_stamp stamp_from(const struct stat& facts) {
  return {static_cast<std::uint64_t>(facts.st_size),
          facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec};
}

}  // namespace

file_stamp stamp_of(const std::string& file) {
  struct stat facts {};
  if (stat(file.c_str(), &facts) != 0) throw error(errno, file);
  return stamp_from(facts);
}

source_file::source_file(const std::string& name, symbolic_links links) : name_(name) {
  const open_file file(name, links);
  struct stat facts {};
  if (fstat(file.descriptor(), &facts) != 0) throw error(errno, name);
  stamp_ = stamp_from(facts);
  device_ = facts.st_dev;
  inode_ = facts.st_ino;
  if (stamp_.bytes > 0) map_ = mapped_file(file, stamp_.bytes);
}

bool source_file::has_changed() const noexcept {
  if (map_.lost()) return true;
  // Uses the name, since a table may have more parts than a process may have open files. If another
  // file has taken the name since, the mapped one is unchanged.
  struct stat now {};
  return stat(name_.c_str(), &now) == 0 && now.st_dev == device_ && now.st_ino == inode_ &&
         stamp_from(now) != stamp_;
}

void source_file::check_unchanged() const {
  if (has_changed()) throw error(EIO, name_ + ": was changed while it was read");
}

}  // namespace creek::tpch

// SPDX-License-Identifier: Apache-2.0
#include "source_file.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <creek/core/error.hpp>
#include <creek/mapreduce/open_file.hpp>

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

source_file::source_file(const std::string& name) : name_(name) {
  const mapreduce::open_file file(name);
  struct stat facts {};
  if (fstat(file.descriptor(), &facts) != 0) throw error(errno, name);
  if (S_ISDIR(facts.st_mode)) throw error(EISDIR, name);
  if (!S_ISREG(facts.st_mode)) throw error(ENOTSUP, name + ": not a regular file");
  stamp_ = stamp_from(facts);
  if (stamp_.bytes > 0) map_ = mapreduce::mapped_file(file, stamp_.bytes);
}

void source_file::check_whole() const {
  if (map_.lost()) throw error(EIO, name_ + ": became shorter while it was read");
}

}  // namespace creek::tpch

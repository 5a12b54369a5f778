// SPDX-License-Identifier: Apache-2.0
#include "part_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <creek/core/error.hpp>
#include <functional>
#include <system_error>

namespace creek::tool {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(std::error_code why, const char* doing, const fs::path& folder) {
  throw error(why, fmt::format("{} {}", doing, folder.string()));
}

fs::path without_slash(const fs::path& given) {
  return given.has_filename() ? given : given.parent_path();
}

}  // namespace

part_folder::part_folder(const std::string& target, rank_group& ranks)
    : ranks_(&ranks), target_(without_slash(target)) {
  if (ranks.rank() == 0) require_free();
  const int process = ranks.bcast(static_cast<int>(getpid()), 0);
  const std::string name = fmt::format(".{}.{}", target_.filename().string(), process);
  hidden_ = target_.parent_path() / (name + ".parts");
  part_ = target_.parent_path() / fmt::format("{}.part-{:05}", name, ranks.rank());
  try {
    file_.emplace(part_, atomic_file::targets::regular);
  } catch (const error& failed) {
    fail(failed.code(), "cannot write", target_);
  }
}

part_folder::~part_folder() {
  file_.reset();
  std::error_code ignored;
  fs::remove(part_, ignored);
  if (is_named_) fs::remove_all(hidden_, ignored);
}

void part_folder::require_free() const {
  std::error_code failed;
  const fs::file_status found = fs::status(target_, failed);
  if (!fs::exists(found)) return;
  if (!fs::is_directory(found)) {
    fail(std::make_error_code(std::errc::not_a_directory), "cannot write", target_);
  }
  if (!fs::is_empty(target_, failed) || failed) {
    fail(failed ? failed : std::make_error_code(std::errc::directory_not_empty), "cannot write",
         target_);
  }
}

void part_folder::wait_for_all() {
  static_cast<void>(ranks_->allreduce(1, std::plus{}));
}

void part_folder::make_hidden_folder() {
  std::error_code failed;
  fs::remove_all(hidden_, failed);  // left by an earlier process with our id, which was killed
  is_named_ = true;
  if (!fs::create_directory(hidden_, failed)) fail(failed, "cannot create", target_);
}

void part_folder::commit() {
  try {
    file_->sync();
    wait_for_all();  // no file has a name before all are written
    file_->commit();
  } catch (const error& failed) {
    fail(failed.code(), "cannot write", target_);
  }
  if (ranks_->rank() == 0) make_hidden_folder();
  wait_for_all();
  std::error_code failed;
  fs::rename(part_, hidden_ / fmt::format("part-{:05}", ranks_->rank()), failed);
  if (failed) fail(failed, "this rank does not see the folder of rank 0 for", target_);
  wait_for_all();
  if (ranks_->rank() == 0) {
    fs::rename(hidden_, target_, failed);
    if (failed) fail(failed, "cannot create", target_);
    is_named_ = false;
  }
}

}  // namespace creek::tool

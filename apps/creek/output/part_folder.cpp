// SPDX-License-Identifier: Apache-2.0
#include "part_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <creek/core/error.hpp>
#include <functional>
#include <system_error>
#include <utility>

namespace creek::tool {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(std::error_code why, const char* doing, const fs::path& folder) {
  throw error(why, fmt::format("{} {}", doing, folder.string()));
}

/// Follows symbolic links, so that the folder that they lead to is replaced.
fs::path resolved(const fs::path& given) {
  std::error_code absent;
  if (fs::path real = fs::canonical(given, absent); !absent) return real;
  return given.has_filename() ? given : given.parent_path();
}

template <class F>
std::error_code failure_of(F&& f) {
  try {
    f();
  } catch (const error& failed) {
    return failed.code();
  }
  return {};
}

}  // namespace

part_folder::part_folder(const std::string& target, rank_group& ranks)
    : ranks_(&ranks), target_(resolved(target)) {
  if (ranks.rank() == 0) require_free();
  const int process = ranks.bcast(static_cast<int>(getpid()), 0);
  const std::string name = fmt::format(".{}.{}", target_.filename().string(), process);
  hidden_ = target_.parent_path() / (name + ".parts");
  part_ = target_.parent_path() / fmt::format("{}.part-{:05}", name, ranks.rank());
  require_one_folder();
  const auto failed = failure_of([&] { file_.emplace(part_, atomic_file::targets::regular); });
  if (failed) fail(failed, "cannot write", target_);
}

part_folder::~part_folder() {
  file_.reset();
  std::error_code ignored;
  fs::remove(part_, ignored);
  remove_hidden_folder();
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

/// Throws if a rank cannot see what rank 0 makes beside the target.
void part_folder::require_one_folder() {
  agree(make_hidden_folder(), "cannot write");
  std::error_code failed;
  if (!fs::exists(hidden_, failed))
    failed = std::make_error_code(std::errc::no_such_file_or_directory);
  static_cast<void>(ranks_->allreduce(1, std::plus{}));  // all have looked
  remove_hidden_folder();
  agree(failed, "this rank does not see the folder of rank 0 for");
}

/// Throws on all ranks if one has failed, so that each of them removes its file.
void part_folder::agree(std::error_code mine, const char* doing) {
  const int worst = ranks_->allreduce(mine.value(), [](int a, int b) { return std::max(a, b); });
  if (mine) fail(mine, doing, target_);
  if (worst != 0) fail({worst, std::generic_category()}, "another rank cannot write", target_);
}

/// Does so on rank 0.
std::error_code part_folder::make_hidden_folder() {
  std::error_code failed;
  if (ranks_->rank() != 0) return failed;
  fs::remove_all(hidden_, failed);  // left by an earlier process with our id, which was killed
  is_named_ = true;
  fs::create_directory(hidden_, failed);
  return failed;
}

void part_folder::remove_hidden_folder() {
  std::error_code ignored;
  if (std::exchange(is_named_, false)) fs::remove_all(hidden_, ignored);
}

void part_folder::commit() {
  agree(failure_of([&] { file_->sync(); }), "cannot write");
  // No file has a name before all are written.
  std::error_code failed = failure_of([&] { file_->commit(); });
  agree(failed ? failed : make_hidden_folder(), "cannot write");
  fs::rename(part_, hidden_ / fmt::format("part-{:05}", ranks_->rank()), failed);
  agree(failed, "cannot write");
  if (ranks_->rank() == 0) {
    fs::rename(hidden_, target_, failed);
    if (failed) fail(failed, "cannot create", target_);
    is_named_ = false;
  }
}

}  // namespace creek::tool

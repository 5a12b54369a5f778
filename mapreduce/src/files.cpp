// SPDX-License-Identifier: Apache-2.0
// Reading the files of an input.
#include <creek/mapreduce/files.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <creek/core/error.hpp>
#include <optional>
#include <system_error>

#include "text_stream.hpp"

namespace creek::mapreduce {

text_files::text_files(const std::vector<std::string>& names, settings chosen) : settings_(chosen) {
  settings_.split = std::max<std::size_t>(settings_.split, 1);
  for (const std::string& name : names) add_named(name);
  if (!skipped_.empty() && !settings_.skip_unreadable) {
    std::string what = skipped_.front().first;
    if (skipped_.size() > 1) what += " (and " + std::to_string(skipped_.size() - 1) + " more)";
    throw error(skipped_.front().second, what);
  }
  plan();
}

/// The pieces in the order in which they are handed out: what one worker must read alone first, the
/// largest of it foremost, then splits of mapped files, then small files to fill up with.
void text_files::plan() {
  std::vector<std::uint32_t> alone;
  for (std::uint32_t i = 0; i < files_.size(); ++i) {
    if (files_[i].map.text().empty()) alone.push_back(i);
  }
  std::ranges::stable_sort(alone, std::greater{}, [&](std::uint32_t i) { return files_[i].size; });
  const auto small = std::ranges::find_if(alone, [&](std::uint32_t i) {
    return files_[i].size < settings_.split && !files_[i].stream;
  });
  for (auto it = alone.begin(); it != small; ++it) pieces_.push_back({*it, 0});
  for (std::uint32_t i = 0; i < files_.size(); ++i) {
    const std::size_t bytes = files_[i].map.text().size();
    for (std::uint32_t k = 0; k * std::uint64_t{settings_.split} < bytes; ++k) {
      pieces_.push_back({i, k});
    }
  }
  for (auto it = small; it != alone.end(); ++it) pieces_.push_back({*it, 0});
}

void text_files::visit_piece(std::size_t i, const visitor& f) {
  file& from = files_[pieces_[i].file];
  if (from.map.text().empty()) {
    visit_stream(from, f);
  } else {
    visit_mapped(from, pieces_[i].index, f);
  }
}

void text_files::visit_mapped(file& from, std::size_t index, const visitor& f) {
  const std::string_view all = from.map.text();
  from.map.populate(all.substr(index * settings_.split, settings_.split));
  const std::string_view text = cut(all, index, settings_.split);
  if (!text.empty()) f({text, true});
  // The end of a page behind the new end of a file reads as zeros without a signal; so ask. Another
  // file that took the name since leaves the mapped one as it was.
  struct stat now {};
  const bool shorter = stat(from.name.c_str(), &now) == 0 && now.st_dev == from.device &&
                       now.st_ino == from.inode &&
                       static_cast<std::uint64_t>(now.st_size) < all.size();
  if (from.map.lost() || shorter)
    throw error(EIO, from.name + ": became shorter while it was read");
}

void text_files::visit_stream(file& from, const visitor& f) {
  std::optional<open_file> opened;
  try {
    opened.emplace(from.name);
  } catch (const error& e) {
    if (!settings_.skip_unreadable) throw;
    leave_out(from.name, e.code().value());
    return;
  }
  const auto source = detail::open_source(*opened);
  detail::text_stream stream(*source);
  for (std::string_view text = stream.next(); !text.empty(); text = stream.next()) {
    f({text, false});
  }
}

void text_files::leave_out(const std::string& name, int why) {
  const std::lock_guard lock(mutex_);
  skipped_.emplace_back(name, why);
}

std::vector<std::string> text_files::skipped() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> lines;
  for (const auto& [name, why] : skipped_) {
    lines.push_back(name + ": " + std::generic_category().message(why));
  }
  return lines;
}

}  // namespace creek::mapreduce

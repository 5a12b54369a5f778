// SPDX-License-Identifier: Apache-2.0
// Reads the files of an input.
#include <creek/mapreduce/inputs/files.hpp>

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <creek/core/error.hpp>
#include <creek/core/io/data_fault.hpp>
#include <memory>
#include <optional>
#include <system_error>

#include "modified_at.hpp"
#include "record_size.hpp"
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

/// Lists the pieces in the order in which they are handed out: first files that one worker must
/// read alone, the largest first, then splits of mapped files, then small files to fill the gaps.
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
    const std::size_t pieces = pieces_of(files_[i]);
    if (settings_.units == text_units::csv_records && pieces != 0) {
      files_[i].cuts = std::make_unique<detail::csv_cuts>(pieces);
    }
    for (std::size_t k = 0; k < pieces; ++k) {
      pieces_.push_back({i, static_cast<std::uint32_t>(k)});
    }
  }
  for (auto it = small; it != alone.end(); ++it) pieces_.push_back({*it, 0});
}

void text_files::visit_piece(std::size_t i, const visitor& f) {
  file& from = files_[pieces_[i].file];
  const visitor placed = [&](const text_split& split) {
    try {
      f(split);
    } catch (const malformed_text& why) {
      fail_at(split, why);
    }
  };
  if (from.map.text().empty()) {
    visit_stream(from, placed);
  } else {
    visit_mapped(from, pieces_[i].index, placed);
  }
}

void text_files::fail_at(const text_split& split, const malformed_text& why) const {
  const char* const begin = split.text.data();
  const std::string place =
      settings_.units == text_units::words
          ? fmt::format(" byte {}",
                        split.from.offset + static_cast<std::uint64_t>(why.at() - begin))
          : std::to_string(line_of(split, why.at()));
  fail(data_fault::malformed, fmt::format("{}:{}: {}", name(split.from.file), place, why.reason()));
}

void detail::fail_in_line(std::size_t line, const malformed_text& why) {
  fail(data_fault::malformed, fmt::format("line {}: {}", line, why.reason()));
}

namespace {

/// Returns the bytes of the records in one piece.
std::size_t piece_bytes(const record_layout& layout, std::size_t split) {
  return std::max<std::size_t>(split / layout.stride, 1) * layout.stride;
}

std::size_t whole_words(std::string_view text) {
  while (!text.empty() && !is_space(text.back())) text.remove_suffix(1);
  return text.size();
}

std::size_t whole_lines(std::string_view text) {
  return text.rfind('\n') + 1;  // npos + 1 is 0
}

detail::text_stream::cutter whole_records(text_units units) {
  switch (units) {
    case text_units::lines:
      return &whole_lines;
    case text_units::csv_records:
      return &detail::whole_csv_records;
    case text_units::words:
      break;
  }
  return &whole_words;
}

}  // namespace

void detail::check_size(const std::string& name, const record_layout& layout, std::uint64_t size) {
  if (layout.end != record_layout::end_of_file) {
    if (size >= layout.end) return;
    fail(data_fault::truncated,
         fmt::format("{}: {} bytes, and its header announces {}", name, size, layout.end));
  }
  if (size >= layout.begin && (size - layout.begin) % layout.stride == 0) return;
  fail(data_fault::truncated,
       fmt::format("{}: ends within a record: {} bytes, records of {}", name, size, layout.stride));
}

std::size_t text_files::pieces_of(const file& from) const {
  const std::size_t bytes = from.map.text().size();
  if (!settings_.layout) return (bytes + settings_.split - 1) / settings_.split;
  if (bytes == 0) return 0;
  const std::size_t step = piece_bytes(from.layout, settings_.split);
  const std::uint64_t end = std::min<std::uint64_t>(from.layout.end, bytes);
  return static_cast<std::size_t>((end - from.layout.begin + step - 1) / step);
}

/// Returns piece `index` of a mapped file, in memory.
std::string_view text_files::piece_of(const file& from, std::size_t index) const {
  const std::string_view all = from.map.text();
  if (settings_.layout) {
    const std::size_t step = piece_bytes(from.layout, settings_.split);
    const auto end = static_cast<std::size_t>(std::min<std::uint64_t>(from.layout.end, all.size()));
    const std::size_t begin = static_cast<std::size_t>(from.layout.begin) + index * step;
    const std::string_view text = all.substr(begin, std::min(step, end - begin));
    from.map.populate(text);
    return text;
  }
  from.map.populate(all.substr(index * settings_.split, settings_.split));
  if (from.cuts) return from.cuts->cut(all, index, settings_.split);
  return settings_.units == text_units::lines ? cut(all, index, settings_.split, &is_line_end)
                                              : cut(all, index, settings_.split);
}

void text_files::visit_mapped(file& from, std::size_t index, const visitor& f) {
  const std::string_view all = from.map.text();
  const std::string_view text = piece_of(from, index);
  // The rest of the page after a file's new end reads as zeros without a signal; so the size is
  // checked. Another file that took over the name leaves the mapped one unchanged.
  const auto check_whole = [&] {
    struct stat now {};
    const bool same =
        stat(from.name.c_str(), &now) == 0 && now.st_dev == from.device && now.st_ino == from.inode;
    const auto size = static_cast<std::uint64_t>(now.st_size);
    if (from.map.lost() || (same && size < all.size()))
      throw error(EIO, from.name + ": became shorter while it was read");
    if (same && size == all.size() && modified_at(now) != from.modified)
      throw error(EIO, from.name + ": was overwritten while it was read");
  };
  try {
    if (!text.empty()) {
      f({text, true, {number_of(from), static_cast<std::uint64_t>(text.data() - all.data())}});
    }
  } catch (...) {
    check_whole();  // zeros of a missing page may be the cause
    throw;
  }
  check_whole();
}

void text_files::visit_stream(file& from, const visitor& f) {
  std::optional<open_file> opened;
  std::unique_ptr<detail::byte_source> source;
  try {
    if (from.stream) {
      opened.emplace(from.name);
    } else {
      opened.emplace(from.name, from.followed);
    }
    source = detail::open_source(*opened);
  } catch (const error& e) {
    if (!settings_.skip_unreadable) throw;
    leave_out(from.name, e.code().value());
    return;
  }
  const bool lines = settings_.units != text_units::words;
  detail::text_stream stream(*source, whole_records(settings_.units));
  if (settings_.layout) return visit_records(from, stream, f);
  from.lines = 0;
  std::uint64_t offset = 0;
  for (std::string_view text = stream.next(); !text.empty(); text = stream.next()) {
    f({text, false, {number_of(from), offset}});
    offset += text.size();
    if (lines) from.lines += static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
  }
}

void text_files::visit_records(file& from, detail::text_stream& stream, const visitor& f) {
  from.layout = settings_.layout(from.shown, stream.peek(detail::head_bytes));
  const record_layout& layout = from.layout;
  stream.cut_by(
      [stride = layout.stride](std::string_view text) { return text.size() / stride * stride; });
  std::uint64_t offset = stream.skip(layout.begin);
  for (std::string_view text = stream.next(); !text.empty(); text = stream.next()) {
    const std::string_view used =
        text.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(
                           text.size(), layout.end - std::min(offset, layout.end))));
    const std::size_t whole = used.size() / layout.stride * layout.stride;
    if (whole != 0) f({used.substr(0, whole), false, {number_of(from), offset}});
    offset += text.size();
  }
  detail::check_size(from.shown, layout, offset);
}

std::uint64_t text_files::line_of(const text_split& split, const char* at) const {
  const file& from = files_[split.from.file];
  const std::string_view all = from.map.text();
  const char* const begin = all.empty() ? split.text.data() : all.data();
  return 1 + from.lines + static_cast<std::uint64_t>(std::count(begin, at, '\n'));
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

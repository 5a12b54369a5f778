// SPDX-License-Identifier: Apache-2.0
#include <creek/mapreduce/inputs/csv_fields.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <creek/core/error.hpp>
#include <creek/core/io/data_fault.hpp>
#include <creek/mapreduce/inputs/malformed_text.hpp>
#include <cstring>

namespace creek::mapreduce::detail {

namespace {

/// Returns the length of the line end at `at`, or 0. A \r that ends the text counts as one.
std::size_t line_end(const char* at, const char* end) noexcept {
  if (at == end) return 0;
  if (*at == '\n') return 1;
  if (*at != '\r') return 0;
  return at + 1 == end ? 1 : at[1] == '\n' ? 2 : 0;
}

}  // namespace

csv_fields::csv_fields(const text_split& split, const csv_options& chosen)
    : at_(split.text.data()), end_(at_ + split.text.size()), chosen_(chosen) {
  constexpr std::string_view never = "\"\n\r";
  if (never.find(chosen.separator) != never.npos) {
    throw usage_error(fmt::format("csv_options: separator '{}' must not be a quote or a line end",
                                  shown({&chosen.separator, 1})));
  }
  if (split.from.offset != 0) return;
  if (split.text.starts_with("\xEF\xBB\xBF")) at_ += 3;
  if (chosen.header) skip_line();
}

/// Skips the record at the beginning; other than in next(), a blank line is one.
void csv_fields::skip_line() noexcept {
  bool quoted = false;
  while (at_ != end_) {
    const char c = *at_++;
    quoted ^= c == '"';
    if (c == '\n' && !quoted) return;
  }
}

bool csv_fields::next() {
  while (const std::size_t blank = line_end(at_, end_)) at_ += blank;
  if (at_ == end_) return false;
  const char* const begin = at_;
  fields_.clear();
  copied_.clear();
  copies_.clear();
  do {
    at_ = at_ != end_ && *at_ == '"' ? read_quoted(at_) : read_plain(at_);
  } while (at_ != end_ && *at_++ == chosen_.separator);
  const char* text_end = at_;
  if (text_end[-1] == '\n') --text_end;
  if (text_end != begin && text_end[-1] == '\r') --text_end;
  text_ = {begin, static_cast<std::size_t>(text_end - begin)};
  for (const auto& [field, from] : copied_) {  // now that the copies stay where they are
    fields_[field] = {copies_.data() + from, fields_[field].size()};
  }
  if (chosen_.fields != 0 && fields_.size() != chosen_.fields) {
    throw malformed_text(begin, fmt::format("{} field{} instead of {}", fields_.size(),
                                            fields_.size() == 1 ? "" : "s", chosen_.fields));
  }
  return true;
}

/// Reads the field without quotes that begins at `at`. Returns its end: a separator, \n or the end.
const char* csv_fields::read_plain(const char* at) {
  const char* const begin = at;
  const char separator = chosen_.separator;
  while (at != end_ && *at != separator && *at != '\n') {
    if (*at == '"') complain(at, "a quote within a field that begins with none");
    ++at;
  }
  const bool ends_line = at == end_ || *at == '\n';
  const char* const field_end = ends_line && at != begin && at[-1] == '\r' ? at - 1 : at;
  fields_.emplace_back(begin, static_cast<std::size_t>(field_end - begin));
  return at;
}

/// Same for the field with quotes.
const char* csv_fields::read_quoted(const char* at) {
  const char* const begin = at;
  bool doubled = false;
  for (++at;; at += 2, doubled = true) {
    at = static_cast<const char*>(std::memchr(at, '"', static_cast<std::size_t>(end_ - at)));
    if (at == nullptr) complain(begin, "a quote that is not closed");
    if (at + 1 == end_ || at[1] != '"') break;
  }
  const std::string_view text(begin + 1, static_cast<std::size_t>(at - begin - 1));
  ++at;
  if (at != end_ && *at != chosen_.separator && *at != '\n') {
    if (line_end(at, end_) == 0) complain(at, "more behind the closing quote");
    ++at;  // the \r
  }
  if (doubled) {
    keep(text);
  } else {
    fields_.push_back(text);
  }
  return at;
}

/// Adds a field whose doubled quotes become single ones.
void csv_fields::keep(std::string_view quoted) {
  const std::size_t begin = copies_.size();
  for (std::size_t pair; (pair = quoted.find('"')) != quoted.npos;) {
    copies_ += quoted.substr(0, pair + 1);
    // The second quote is gone if the file is overwritten meanwhile.
    quoted.remove_prefix(std::min(pair + 2, quoted.size()));
  }
  copies_ += quoted;
  copied_.push_back({fields_.size(), begin});
  fields_.emplace_back(quoted.data(), copies_.size() - begin);
}

void csv_fields::complain(const char* at, std::string_view what) const {
  throw malformed_text(at, fmt::format("field {}: {}", fields_.size() + 1, what));
}

}  // namespace creek::mapreduce::detail

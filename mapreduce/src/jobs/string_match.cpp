// SPDX-License-Identifier: Apache-2.0
#include <creek/mapreduce/jobs/string_match.hpp>

#include <creek/core/error.hpp>
#include <creek/mapreduce/inputs/find_bytes.hpp>
#include <cstring>

namespace creek::mapreduce {

namespace {

match_counts count_one(std::string_view text, std::string_view pattern) {
  match_counts counts;
  const char* const end = text.data() + text.size();
  const char* counted = text.data();  // lines before it are counted
  for (const char* at = find_bytes(text.data(), end, pattern); at != end;
       at = find_bytes(at + 1, end, pattern)) {
    ++counts.occurrences;
    if (at < counted) continue;
    ++counts.lines;
    const void* const line_end = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
    counted = line_end == nullptr ? end : static_cast<const char*>(line_end);
  }
  return counts;
}

}  // namespace

void count_matches(std::string_view text, std::span<const std::string> patterns,
                   std::span<match_counts> into) noexcept {
  for (std::size_t k = 0; k < patterns.size(); ++k) {
    string_match::combine(into[k], count_one(text, patterns[k]));
  }
}

void check_pattern(std::string_view pattern) {
  if (pattern.empty()) throw usage_error("pattern: is empty");
  if (pattern.find('\n') != std::string_view::npos) {
    throw usage_error("pattern: contains a line end, but lines are searched one by one");
  }
}

}  // namespace creek::mapreduce

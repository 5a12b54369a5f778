// SPDX-License-Identifier: Apache-2.0
// Matches of a regular expression in the lines of a text, found by RE2.
//
// A match lies within one line, without its \n: ^ and $ match where a line begins and ends. So text
// may be cut at lines. Matches do not overlap; the leftmost comes first, as in Perl. Empty matches
// are left out. Time is linear in the length of a line, whatever the expression.
#pragma once

#include <creek/core/charge.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace creek::text {

/// Returns whether this library was built with RE2.
[[nodiscard]] bool has_patterns() noexcept;

struct pattern_options {
  bool ignore_case = false;
  /// Reads text as bytes (Latin-1) instead of UTF-8. In UTF-8, bytes that are invalid match
  /// nothing.
  bool bytes = false;
};

/// A compiled regular expression in the syntax of RE2. Any number of threads may use it at once;
/// copies share it.
class pattern {
 public:
  /// Throws usage_error that names the expression, the fault and its position, or says that creek
  /// was built without RE2.
  explicit pattern(std::string_view expression, pattern_options chosen = {});

  [[nodiscard]] const std::string& expression() const noexcept;
  /// Returns the number of groups in parentheses.
  [[nodiscard]] std::size_t groups() const noexcept;

  /// Finds the first match in the lines of `text` that begins at or after position `at`, which is
  /// not in the middle of a character, and is not empty. Returns false if there is none. Stores the
  /// match and its groups in `found`, at most `found.size()`; a group that takes no part is a view
  /// of null.
  [[nodiscard]] bool find(std::string_view text, std::size_t at,
                          std::span<std::string_view> found) const;

 private:
  struct compiled;
  std::shared_ptr<const compiled> compiled_;
};

/// A match, [0], and its groups, [1] to [size() - 1]: views into the text.
using match = std::span<const std::string_view>;

/// Calls `f(std::string_view match)`, or `f(match)` with the groups too, for every match in the
/// lines of `text` in order. Matches without groups are found faster.
template <class F>
void for_each_match(std::string_view text, const pattern& wanted, F&& f) {
  constexpr bool with_groups = !std::is_invocable_v<F&, std::string_view>;
  std::vector<std::string_view> found(with_groups ? wanted.groups() + 1 : 1);
  charge(work::byte_scanned, static_cast<std::int64_t>(text.size()));
  for (std::size_t at = 0; wanted.find(text, at, found);) {
    at = static_cast<std::size_t>(found[0].data() + found[0].size() - text.data());
    if constexpr (with_groups) {
      f(match(found));
    } else {
      f(found[0]);
    }
  }
}

}  // namespace creek::text

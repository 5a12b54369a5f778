// SPDX-License-Identifier: Apache-2.0
#include "column_check.hpp"

#include "tpch/values/day_limits.hpp"

namespace creek::tpch {
namespace {

bool in_range(const packed& values) noexcept {
  if (values.factor != 1 && values.factor != 100) return false;
  const std::uint64_t room =
      static_cast<std::uint64_t>(INT64_MAX) - static_cast<std::uint64_t>(values.base);
  if (values.last_code > room / static_cast<std::uint64_t>(values.factor)) return false;
  return with_width(values.width, [&](auto zero) {
    auto most = zero;
    const auto* const codes = values.as<decltype(zero)>();
    for (std::size_t i = 0; i < values.size; ++i) most = std::max(most, codes[i]);
    return most <= values.last_code;
  });
}

/// Returns whether the values are indexes, each of which is its own code.
bool are_indexes(const packed& values) noexcept {
  return values.base == 0 && values.factor == 1;
}

/// Returns whether these are the offsets in `bytes` where parts begin and the last one ends, none
/// longer than `longest`. The numbers are in_range().
bool are_begins(const packed& begins, std::size_t bytes, std::size_t longest) noexcept {
  if (begins.size == 0 || !are_indexes(begins) || begins.code(begins.size - 1) > bytes) {
    return false;
  }
  return with_width(begins.width, [&](auto zero) {
    const auto* const codes = begins.as<decltype(zero)>();
    bool wrong = false;
    for (std::size_t i = 1; i < begins.size; ++i) {
      const std::uint64_t before = codes[i - 1], here = codes[i];
      wrong |= here < before || here - before > longest;
    }
    return !wrong;
  });
}

bool are_words(const column& what) noexcept {
  if (!in_range(what.word_begins) ||
      !are_begins(what.word_begins, what.bytes.size(), what.schema->longest)) {
    return false;
  }
  for (std::size_t i = 1; i < what.words(); ++i) {
    if (what.word(i) <= what.word(i - 1)) return false;
  }
  return are_indexes(what.values) && what.values.last_code < what.words();
}

}  // namespace

bool is_sound(const column& what) noexcept {
  if (!in_range(what.values)) return false;
  switch (what.schema->holds) {
    case kind::text:
      return are_begins(what.values, what.bytes.size(), what.schema->longest);
    case kind::category:
      return are_words(what);
    case kind::date:
      return what.values.least() >= year_0 && what.values.greatest() <= year_9999;
    default:
      return true;
  }
}

}  // namespace creek::tpch

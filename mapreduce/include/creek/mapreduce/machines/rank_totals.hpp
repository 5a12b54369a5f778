// SPDX-License-Identifier: Apache-2.0
// Numbers of one rank's run that are added up over all ranks.
#pragma once

#include <cstdint>

#include <creek/core/language.hpp>

namespace creek::mapreduce::detail {

struct rank_totals {
  std::uint64_t emitted = 0, distinct = 0;
  std::uint64_t sent = 0;  ///< bytes of pairs to other ranks
  friend rank_totals operator+(const rank_totals& a, const rank_totals& b) noexcept {
    return {a.emitted + b.emitted, a.distinct + b.distinct, a.sent + b.sent};
  }
};

}  // namespace creek::mapreduce::detail

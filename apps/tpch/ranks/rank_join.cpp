// SPDX-License-Identifier: Apache-2.0
#include "rank_join.hpp"

#include <fmt/format.h>

#include <array>

namespace creek::tpch {

rank_join::rank_join(query_ranks& ranks, std::uint64_t left_bytes, std::uint64_t right_bytes)
    : ranks_(&ranks) {
  using sizes = std::array<std::uint64_t, 2>;
  const sizes all =
      ranks.combine(sizes{left_bytes, right_bytes}, [](const sizes& a, const sizes& b) {
        return sizes{a[0] + b[0], a[1] + b[1]};
      });
  left_bytes_ = all[0];
  right_bytes_ = all[1];
  // A broadcast sends its side to P - 1 ranks, a repartition (P - 1) / P of both sides.
  broadcasts_ =
      left_bytes_ * static_cast<std::uint64_t>(ranks.size()) <= left_bytes_ + right_bytes_;
}

std::string rank_join::describe(std::string_view left_name, std::string_view right_name) const {
  if (broadcasts_) return fmt::format("broadcast {}, {} bytes", left_name, left_bytes_);
  return fmt::format("repartition {}, {} bytes, and {}, {} bytes", left_name, left_bytes_,
                     right_name, right_bytes_);
}

}  // namespace creek::tpch

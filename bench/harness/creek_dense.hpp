// SPDX-License-Identifier: Apache-2.0
// Runs dense linear algebra workloads of the creek peer on the runtime that it keeps.
#pragma once
#include <creek/linalg.hpp>

#include "creek_runtime.hpp"

namespace bench::dense {

/// Returns a view of a workload's matrix, n elements from column to column.
inline creek::linalg::matrix_view<double> view(std::vector<double>& a, std::int64_t n) {
  return {a.data(), n, n, n};
}

/// Returns a function that runs `call(operands)` inside the runtime.
template <class Call>
auto inside_runtime(const settings& s, Call call) {
  return [&s, call](auto& operands) { inside(s, [&] { call(operands); }); };
}

/// Converts pivots to the form of the check, counted from 1.
inline void to_fortran(const std::vector<creek::linalg::index_t>& from,
                       std::vector<std::int32_t>& to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<std::int32_t>(from[i] + 1);
}

}  // namespace bench::dense

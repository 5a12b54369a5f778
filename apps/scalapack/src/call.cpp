// SPDX-License-Identifier: Apache-2.0
#include "call.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace creek::scalapack {

bool call::is_whole(int m, int n, int ia, int ja, const int* desc) const noexcept {
  const linalg::process_grid& grid = in_->grid();
  const auto fits = [](int size, int first, int all, int block, int source, int processes) {
    return size > 0 && first >= 1 && block >= 1 && (first - 1) % block == 0 &&
           std::int64_t{first} - 1 + size <= all && source >= 0 && source < processes;
  };
  constexpr int dense = 1;
  return desc[type_] == dense && desc[context_] == context_handle_ &&
         fits(m, ia, desc[rows_], desc[row_block_], desc[row_source_], grid.rows) &&
         fits(n, ja, desc[cols_], desc[col_block_], desc[col_source_], grid.cols);
}

bool call::all_agree(bool here) const {
  if (in_ == nullptr) return false;
  in_->ranks().use_in_this_thread();
  const auto numbers = static_cast<std::int64_t>(noted_.value() >> 1U);
  std::array<std::int64_t, 3> least{here ? 1 : 0, numbers, -numbers};
  in_->ranks().allreduce(std::span<std::int64_t>(least),
                         [](std::int64_t a, std::int64_t b) { return std::min(a, b); });
  return least[0] != 0 && least[1] == -least[2];
}

std::optional<linalg::op> to_op(char letter) noexcept {
  switch (in_upper_case(letter)) {
    case 'N':
      return linalg::op::none;
    case 'T':
      return linalg::op::transpose;
    case 'C':
      return linalg::op::conjugate_transpose;
    default:
      return {};
  }
}
std::optional<linalg::triangle> to_triangle(char letter) noexcept {
  switch (in_upper_case(letter)) {
    case 'L':
      return linalg::triangle::lower;
    case 'U':
      return linalg::triangle::upper;
    default:
      return {};
  }
}

}  // namespace creek::scalapack

// SPDX-License-Identifier: Apache-2.0
// Operands of tasks that move a whole block, with its size.
#pragma once

#include <cstddef>

#include <creek/linalg/task_graph.hpp>

namespace creek::linalg::detail {

template <class View>
std::size_t bytes_of(const View& block) noexcept {
  return static_cast<std::size_t>(block.rows()) * static_cast<std::size_t>(block.cols()) *
         sizeof(*block.data());
}

template <class View>
operand in_whole(const View& block) noexcept {
  return in(block.data(), bytes_of(block));
}
template <class View>
operand out_whole(const View& block) noexcept {
  return out(block.data(), bytes_of(block));
}
template <class View>
operand inout_whole(const View& block) noexcept {
  return inout(block.data(), bytes_of(block));
}

}  // namespace creek::linalg::detail

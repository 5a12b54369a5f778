// SPDX-License-Identifier: Apache-2.0
// Input of one rank: its part of the splits that all ranks see.
#pragma once

#include <array>
#include <creek/core/error.hpp>
#include <creek/mapreduce/input.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace creek::mapreduce {

namespace detail {

struct no_split_type {};
template <class Input>
struct split_type_of {
  using type = no_split_type;
};
template <class Input>
requires requires {
  typename Input::split_type;
}
struct split_type_of<Input> {
  using type = typename Input::split_type;
};

}  // namespace detail

/// Throws usage_error on ranks whose input differs from that of rank 0. All ranks call it.
template <class Communicator, class Input>
void require_equal_input(Communicator& ranks, const Input& from) {
  const std::array<std::uint64_t, 2> extent{from.splits(), from.bytes()};
  if (ranks.bcast(extent, 0) == extent) return;
  throw usage_error(
      "this rank's input has other splits or bytes than that of rank 0; give all ranks the same "
      "files");
}

/// How splits are divided among ranks: in turns, or in blocks of consecutive ones.
enum class split_dealing : std::uint8_t { in_turns, in_blocks };

/// The splits of an input that one rank has. Refers to the input.
template <class Input>
class own_splits {
 public:
  using split_type = typename detail::split_type_of<Input>::type;

  own_splits(Input& from, int rank, int ranks, split_dealing by = split_dealing::in_turns)
      : from_(&from), ranks_(static_cast<std::size_t>(ranks)) {
    const auto me = static_cast<std::size_t>(rank);
    const std::size_t all = from.splits();
    const auto share = [&](std::size_t before) { return (before * all + ranks_ - 1) / ranks_; };
    if (by == split_dealing::in_turns) {
      first_ = me;
      step_ = ranks_;
      count_ = all <= me ? 0 : (all - me - 1) / ranks_ + 1;
    } else {
      first_ = share(me);
      count_ = share(me + 1) - first_;
    }
  }

  [[nodiscard]] std::size_t splits() const { return count_; }
  /// Returns the input, and the number that a split of this rank has in it.
  [[nodiscard]] Input& input() const noexcept { return *from_; }
  [[nodiscard]] std::size_t number(std::size_t i) const noexcept { return first_ + i * step_; }
  [[nodiscard]] std::uint64_t bytes() const { return from_->bytes() / ranks_; }
  template <class F>
  void visit(std::size_t i, F&& f) const {
    from_->visit(number(i), f);
  }
  template <class F>
  void visit_alone(std::size_t i, F&& f) const {
    detail::visit_alone(*from_, number(i), f);
  }
  [[nodiscard]] std::string name(std::uint32_t file) const {
    return detail::file_name(*from_, file);
  }

 private:
  Input* from_;
  std::size_t ranks_;
  std::size_t first_ = 0, step_ = 1, count_ = 0;
};

}  // namespace creek::mapreduce

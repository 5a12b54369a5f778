// SPDX-License-Identifier: Apache-2.0
// The driver under the parallel scans: blocks, summed in a first pass and finished in a second.
//
// The leftmost 1/(workers + 1) of the blocks need no sums of others: one task finishes them in the
// first pass, while the other workers sum what lies behind. So with one worker there is one pass
// only, and with two a third of the range is read once instead of twice.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <creek/tasking/detail/lazy_loop.hpp>
#include <creek/tasking/detail/linear_range.hpp>
#include <creek/tasking/fork_join.hpp>

namespace creek::detail {

template <class T, class Fold, class Combine>
class block_scan {
 public:
  block_scan(position count, const T& identity, const Fold& fold, Combine& combine,
             const parallel_options& options)
      : count_(count),
        block_(block_size(count, options)),
        blocks_(count == 0 ? 0 : (count - 1) / block_ + 1),
        identity_(identity),
        fold_(fold),
        combine_(combine),
        alone_(worker_count() == 1),
        deterministic_(options.deterministic),
        control_(options.stop) {}

  /// Scans with `initial` in front of the first element; returns the value of the whole range.
  T run(T initial) {
    if (blocks_ == 0) return initial;
    const position head = head_blocks();
    if (head == blocks_) return finish_head(head, std::move(initial));
    carries_.assign(blocks_ - head, carry{identity_});
    first_pass(head, std::move(initial));
    for (position i = 1; i < carries_.size(); ++i) {
      carries_[i].value = combine_(T(carries_[i - 1].value), std::move(carries_[i].value));
    }
    return second_pass(head);
  }

 private:
  struct carry {  // keeps std::vector<bool> away from concurrent writers
    T value;
  };

  static position block_size(position count, const parallel_options& options) noexcept {
    if (options.grain != 0) return options.grain;
    const position blocks = options.deterministic ? 256 : 8 * (worker_count() + position{1});
    return std::max<position>(1, count / blocks + (count % blocks != 0));
  }

  // A sum carried through the head's blocks associates differently from the sums of the rest, so
  // for deterministic results the head must not depend on the workers: it is one block then.
  position head_blocks() const noexcept {
    if (deterministic_) return 1;
    if (alone_) return blocks_;
    return std::max<position>(1, blocks_ / (worker_count() + position{1}));
  }

  // Leaves the value of the head in carries_[0], and the sum of block head + i - 1 in carries_[i].
  // The last block's sum is not needed.
  void first_pass(position head, T initial) {
    const auto finish = [&] { carries_[0].value = finish_head(head, std::move(initial)); };
    const auto sum_rest = [&] {
      drive_loop(
          blocks_ - head - 1, 1,
          [&](position lo, position hi) {
            for (position i = lo; i < hi; ++i)
              carries_[i + 1].value = fold(head + i, identity_, false);
          },
          control_);
    };
    if (alone_) {
      finish();
      sum_rest();
    } else {
      fork_join(finish, sum_rest);
    }
  }

  // Runs when carries_[i] holds the value of all that stands before block head + i.
  T second_pass(position head) {
    T total = identity_;
    drive_loop(
        blocks_ - head, 1,
        [&](position lo, position hi) {
          for (position i = lo; i < hi; ++i) {
            T value = fold(head + i, std::move(carries_[i].value), true);
            if (head + i + 1 == blocks_) total = std::move(value);
          }
        },
        control_);
    return total;
  }

  T finish_head(position head, T value) {
    for (position i = 0; i < head && !control_.ended(); ++i) {
      value = fold(i, std::move(value), true);
    }
    return value;
  }

  T fold(position block, T value, bool is_final) {
    const position lo = block * block_;
    const position hi = lo + std::min(block_, count_ - lo);
    return control_.guard([&]() -> T { return fold_(lo, hi, std::move(value), is_final); });
  }

  const position count_, block_, blocks_;
  const T& identity_;
  const Fold& fold_;
  Combine& combine_;
  const bool alone_, deterministic_;
  loop_control control_;
  std::vector<carry> carries_;
};

/// The scan of elements: write(lo, hi, carry) writes a block's output and returns the carry behind
/// it. The carry is empty where nothing stands before: an inclusive scan needs no identity of `op`.
template <class T, class In, class Write, class Op>
void scan_elements(In first, In last, std::optional<T> initial, const Write& write, Op& op,
                   const parallel_options& options) {
  using carry = std::optional<T>;
  const auto fold = [&](position lo_at, position hi_at, carry before, bool is_final) -> carry {
    In lo = cursor_at(first, lo_at);
    const In hi = cursor_at(first, hi_at);
    if (is_final) return write(lo, hi, std::move(before));
    T sum = before ? std::move(*before) : T(*lo++);
    for (; lo != hi; ++lo) sum = op(std::move(sum), *lo);
    return carry(std::move(sum));
  };
  const auto combine = [&](carry a, carry b) -> carry {
    if (!a || !b) return a ? std::move(a) : std::move(b);
    return carry(op(std::move(*a), std::move(*b)));
  };
  const carry none;
  block_scan<carry, decltype(fold), decltype(combine)>(count_between(first, last), none, fold,
                                                       combine, options)
      .run(std::move(initial));
}

}  // namespace creek::detail

// SPDX-License-Identifier: Apache-2.0
// Parallel prefix sums: over elements, and over chunks for scans that are no plain prefix sums.
#pragma once

#include <concepts>
#include <functional>
#include <iterator>
#include <optional>
#include <ranges>
#include <utility>

#include <creek/tasking/detail/block_scan.hpp>
#include <creek/tasking/parallel_options.hpp>
#include <creek/tasking/parallel_reduce.hpp>

namespace creek {

/// The general scan. Calls fold(lo, hi, carry, is_final) -> T for blocks of [first, last):
/// with is_final == false it returns `carry` combined with the block's elements and writes nothing;
/// with is_final == true, `carry` holds all elements before `lo`, and it may write the block's
/// output too. Every block gets exactly one final call; some get one of the other kind before.
/// Returns the value of the whole range. Stream compaction, for example, counts when not final and
/// copies when final. `combine` must be associative with combine(identity, x) == x; it need not
/// commute. Blocks: options.grain elements, or 0: 8 per worker and 8 more (deterministic: 1/256 of
/// the range). Threads: inside a runtime on its workers, outside in this thread, then in one final
/// pass. Errors: the first exception is rethrown; after it, or after a requested stop, which blocks
/// were final is unspecified and so is the value returned. Cost: the range is read twice except for
/// its first 1/(workers + 1), which the final pass has finished by the time the other blocks have
/// been summed: (workers + 1) / 2 times the serial speed if compute-bound. Source: [Blelloch 1990]
/// (without the early first block).
template <detail::loop_cursor I, class T, class Fold, class Combine>
T parallel_scan(I first, I last, T identity, Fold&& fold, Combine&& combine,
                const parallel_options& options = {}) {
  static_assert(detail::combine_requirements<T, Combine>::met);
  static_assert(
      std::is_invocable_r_v<T, Fold&, I, I, T, bool>,
      "parallel_scan calls fold(lo, hi, carry, is_final), which must return the new carry");
  const auto fold_positions = [&](detail::position lo, detail::position hi, T carry,
                                  bool is_final) -> T {
    return fold(detail::cursor_at(first, lo), detail::cursor_at(first, hi), std::move(carry),
                is_final);
  };
  return detail::block_scan<T, decltype(fold_positions), std::remove_reference_t<Combine>>(
             detail::count_between(first, last), identity, fold_positions, combine, options)
      .run(identity);
}

namespace detail {

/// Writes initial op in[0] op ... op in[i] to out[i], without `initial` where it is empty.
template <class T, class In, class Out, class Op>
void write_inclusive_scan(In first, In last, Out out, std::optional<T> initial, Op& op,
                          const parallel_options& options) {
  const auto write = [&](In lo, In hi, std::optional<T> carry) {
    Out to = out + (lo - first);
    if (!carry) {
      carry.emplace(*lo);
      *to++ = *carry;
      ++lo;
    }
    T sum = std::move(*carry);
    for (; lo != hi; ++lo, ++to) {
      sum = op(std::move(sum), *lo);
      *to = sum;
    }
    return std::optional<T>(std::move(sum));
  };
  scan_elements<T>(first, last, std::move(initial), write, op, options);
}

template <class In, class Out, class T, class Op>
struct scan_with_init_requirements {
  static_assert(std::is_invocable_r_v<T, Op&, T, std::iter_value_t<In>> &&
                    std::is_invocable_r_v<T, Op&, T, T> &&
                    std::is_convertible_v<std::iter_reference_t<In>, T>,
                "a scan from init: op(a, b) must accept values of init's type, to which elements "
                "convert, and return one");
  static_assert(std::indirectly_writable<Out, T>,
                "a scan from init writes to `out`: it must accept values of init's type");
  static constexpr bool met = true;
};

}  // namespace detail

/// Writes out[i] = in[0] op ... op in[i]. `out` may equal `first`; otherwise ranges must not
/// overlap. `op` must be associative. Returns the end of the output.
/// Threads, errors, cost: as parallel_scan; after an error the output is unspecified.
template <std::random_access_iterator In, std::random_access_iterator Out, class Op = std::plus<>>
Out parallel_inclusive_scan(In first, In last, Out out, Op op = {},
                            const parallel_options& options = {}) {
  using value = std::iter_value_t<In>;
  static_assert(std::is_invocable_r_v<value, Op&, value, value>,
                "parallel_inclusive_scan: op(a, b) must accept two elements and return one");
  static_assert(std::indirectly_writable<Out, const value&>,
                "parallel_inclusive_scan writes to `out`: it must accept elements of the input");
  detail::write_inclusive_scan<value>(first, last, out, std::nullopt, op, options);
  return out + std::max<std::iter_difference_t<In>>(0, last - first);
}

/// Writes out[i] = init op in[0] op ... op in[i-1]. Otherwise as parallel_inclusive_scan.
template <std::random_access_iterator In, std::random_access_iterator Out, class T,
          class Op = std::plus<>>
Out parallel_exclusive_scan(In first, In last, Out out, T init, Op op = {},
                            const parallel_options& options = {}) {
  static_assert(detail::scan_with_init_requirements<In, Out, T, Op>::met);
  const auto write = [&](In lo, In hi, std::optional<T> carry) {
    Out to = out + (lo - first);
    T sum = std::move(*carry);
    for (; lo != hi; ++lo, ++to) {
      T next = op(sum, *lo);  // before the write: in place, *to and *lo are one element
      *to = std::move(sum);
      sum = std::move(next);
    }
    return std::optional<T>(std::move(sum));
  };
  detail::scan_elements<T>(first, last, std::optional<T>(std::move(init)), write, op, options);
  return out + std::max<std::iter_difference_t<In>>(0, last - first);
}

}  // namespace creek

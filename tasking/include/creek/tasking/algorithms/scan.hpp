// SPDX-License-Identifier: Apache-2.0
// inclusive_scan and exclusive_scan in parallel, by the standard library's names.
#pragma once

#include <creek/tasking/detail/projected_call.hpp>
#include <creek/tasking/parallel_scan.hpp>

namespace creek {

namespace detail {

struct inclusive_scan_function {
  template <std::random_access_iterator I, std::sized_sentinel_for<I> S,
            std::random_access_iterator O, operation Op = std::plus<>>
  O operator()(I first, S last, O out, Op op = {}, const parallel_options& options = {}) const {
    return parallel_inclusive_scan(first, first + (last - first), out, std::move(op), options);
  }
  template <std::random_access_iterator I, std::sized_sentinel_for<I> S,
            std::random_access_iterator O>
  O operator()(I first, S last, O out, const parallel_options& options) const {
    return (*this)(first, last, out, std::plus<>{}, options);
  }
  template <std::random_access_iterator I, std::sized_sentinel_for<I> S,
            std::random_access_iterator O, operation Op, operation T>
  O operator()(I first, S last, O out, Op op, T init, const parallel_options& options = {}) const {
    static_assert(scan_with_init_requirements<I, O, T, Op>::met);
    const I end = first + (last - first);
    write_inclusive_scan<T>(first, end, out, std::optional<T>(std::move(init)), op, options);
    return out + static_cast<std::iter_difference_t<O>>(end - first);
  }
  template <parallel_range R, std::random_access_iterator O, operation Op = std::plus<>>
  O operator()(R&& range, O out, Op op = {}, const parallel_options& options = {}) const {
    return (*this)(std::ranges::begin(range), end_of(range), out, std::move(op), options);
  }
  template <parallel_range R, std::random_access_iterator O>
  O operator()(R&& range, O out, const parallel_options& options) const {
    return (*this)(range, out, std::plus<>{}, options);
  }
  template <parallel_range R, std::random_access_iterator O, operation Op, operation T>
  O operator()(R&& range, O out, Op op, T init, const parallel_options& options = {}) const {
    return (*this)(std::ranges::begin(range), end_of(range), out, std::move(op), std::move(init),
                   options);
  }
};

struct exclusive_scan_function {
  template <std::random_access_iterator I, std::sized_sentinel_for<I> S,
            std::random_access_iterator O, operation T, operation Op = std::plus<>>
  O operator()(I first, S last, O out, T init, Op op = {},
               const parallel_options& options = {}) const {
    return parallel_exclusive_scan(first, first + (last - first), out, std::move(init),
                                   std::move(op), options);
  }
  template <std::random_access_iterator I, std::sized_sentinel_for<I> S,
            std::random_access_iterator O, operation T>
  O operator()(I first, S last, O out, T init, const parallel_options& options) const {
    return (*this)(first, last, out, std::move(init), std::plus<>{}, options);
  }
  template <parallel_range R, std::random_access_iterator O, operation T,
            operation Op = std::plus<>>
  O operator()(R&& range, O out, T init, Op op = {}, const parallel_options& options = {}) const {
    return (*this)(std::ranges::begin(range), end_of(range), out, std::move(init), std::move(op),
                   options);
  }
  template <parallel_range R, std::random_access_iterator O, operation T>
  O operator()(R&& range, O out, T init, const parallel_options& options) const {
    return (*this)(range, out, std::move(init), std::plus<>{}, options);
  }
};

}  // namespace detail

/// inclusive_scan(first, last, out, op = std::plus<>(), options = {}) writes
/// in[0] op ... op in[i] to out[i]; inclusive_scan(first, last, out, op, init, options = {}) writes
/// init op in[0] op ... op in[i], computed in init's type. A range may stand for the two iterators;
/// `op` may be left out before `options`. As std::inclusive_scan, returns the end of the output.
/// Otherwise as parallel_inclusive_scan.
inline constexpr detail::inclusive_scan_function inclusive_scan{};

/// exclusive_scan(first, last, out, init, op = std::plus<>(), options = {}) writes
/// init op in[0] op ... op in[i-1] to out[i]. A range may stand for the two iterators; `op` may be
/// left out before `options`. As std::exclusive_scan, returns the end of the output. Otherwise as
/// parallel_exclusive_scan.
inline constexpr detail::exclusive_scan_function exclusive_scan{};

}  // namespace creek

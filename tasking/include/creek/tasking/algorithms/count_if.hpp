// SPDX-License-Identifier: Apache-2.0
// count_if in parallel, by the standard library's name.
#pragma once

#include <creek/tasking/detail/projected_call.hpp>
#include <creek/tasking/parallel_reduce.hpp>

namespace creek {

namespace detail {

struct count_if_function : projecting_algorithm<count_if_function> {
  template <class I, class Pred, class Proj>
  static std::iter_difference_t<I> run(I first, I last, Pred& pred, Proj& proj,
                                       const parallel_options& options) {
    static_assert(predicate_requirements<Pred, projected_t<Proj, I>>::met);
    using count = std::iter_difference_t<I>;
    auto one_if = [call = projected_call<Pred, Proj>{pred, proj}](auto&& x) mutable {
      return static_cast<count>(call(std::forward<decltype(x)>(x)) ? 1 : 0);
    };
    return parallel_reduce(first, last, count{0}, one_if, std::plus<>{}, options);
  }
};

}  // namespace detail

/// count_if(first, last, pred, proj = {}, options = {}), count_if(range, pred, proj = {},
/// options = {}): returns the number of elements for which pred(proj(x)) is true. `proj` may be
/// left out before `options`. `pred` is called once per element, from several workers at once.
/// Threads, chunks, errors, stop, cost: as parallel_reduce.
inline constexpr detail::count_if_function count_if{};

}  // namespace creek

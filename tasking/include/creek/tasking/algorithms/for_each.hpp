// SPDX-License-Identifier: Apache-2.0
// for_each in parallel, by the standard library's name.
#pragma once

#include <creek/tasking/detail/projected_call.hpp>
#include <creek/tasking/parallel_for.hpp>

namespace creek {

namespace detail {

struct for_each_function : projecting_algorithm<for_each_function> {
  template <class I, class F, class Proj>
  static I run(I first, I last, F& f, Proj& proj, const parallel_options& options) {
    static_assert(std::invocable<F&, projected_t<Proj, I>>,
                  "for_each calls f(proj(element)), or f(element) if there is no projection");
    parallel_for(first, last, projected_call<F, Proj>{f, proj}, options);
    return last;
  }
};

}  // namespace detail

/// for_each(first, last, f, proj = {}, options = {}), for_each(range, f, proj = {}, options = {}):
/// calls f(proj(x)) for each element, in any order, from several workers at once. `proj` may be
/// left out before `options`. Returns the end of the range, like the parallel std::ranges::for_each
/// of C++26; `f` may be copied, so state that it changes must lie outside of it.
/// Threads, chunks, errors, stop, cost: as parallel_for.
inline constexpr detail::for_each_function for_each{};

}  // namespace creek

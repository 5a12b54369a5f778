// SPDX-License-Identifier: Apache-2.0
// Runs a fixed set of callables concurrently for their effects.
#pragma once

#include <concepts>
#include <cstddef>
#include <tuple>
#include <utility>

#include <creek/tasking/fork_join.hpp>

namespace creek {

namespace detail {

/// Calls elements [Lo, Hi) of a tuple of references, forking in halves: thieves reach n callables
/// after log2(n) forks.
template <std::size_t Lo, std::size_t Hi, class Calls>
void invoke_slice(Calls& calls) {
  if constexpr (Hi - Lo == 1) {
    static_cast<void>(std::get<Lo>(calls)());
  } else if constexpr (Hi - Lo > 1) {
    constexpr std::size_t mid = Lo + (Hi - Lo) / 2;
    fork_join([&] { invoke_slice<Lo, mid>(calls); }, [&] { invoke_slice<mid, Hi>(calls); });
  }
}

}  // namespace detail

/// Calls every f() once, concurrently where workers are free, and returns when all have ended.
/// Drops the results: use fork_join for them. Throws usage_error outside of a runtime if there are
/// two callables or more. If some throw, all others still run, then the first exception is
/// rethrown.
template <class... Functions>
void parallel_invoke(Functions&&... functions) {
  static_assert((std::is_invocable_v<Functions&> && ...),
                "parallel_invoke calls every function without arguments");
  auto calls = std::tie(functions...);
  detail::invoke_slice<0, sizeof...(Functions)>(calls);
}

}  // namespace creek

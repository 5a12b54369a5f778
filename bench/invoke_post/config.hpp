// SPDX-License-Identifier: Apache-2.0
// Calls without an answer: one sender posts n increments to an object on another worker, timed
// until the last of them has run.
#pragma once
#include "harness/invoked.hpp"

namespace bench::invoke_post {

inline constexpr description what{.name = "invoke_post",
                                  .about = "one sender's calls without answer, until all have run",
                                  .unit = "ns/post",
                                  .full = 5'000'000,
                                  .quick = 500'000,
                                  .smoke = 1000,
                                  .min_workers = 2,
                                  .groups = "invoke"};

/// Runs once: `post()` makes the counter's add() run where the counter lives, `finish()` returns
/// when all calls have run. The caller fills in the answer from the counter afterwards.
template <class Post, class Finish>
sample run(const settings& s, const Post& post, const Finish& finish) {
  const double ns = timed([&] {
    for (std::int64_t i = 0; i < s.n; ++i) post();
    finish();
  });
  return {.total_ns = ns, .work = static_cast<double>(s.n)};
}

}  // namespace bench::invoke_post

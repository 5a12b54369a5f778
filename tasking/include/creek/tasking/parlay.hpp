// SPDX-License-Identifier: Apache-2.0
// Makes creek the scheduler of ParlayLib (github.com/cmuparlay/parlaylib). Every source file
// includes this header before any of ParlayLib's; docs/parlay.md has the compile line. ParlayLib's
// parallel.h declares four functions and leaves their definition to a scheduler: here they are
// defined over fork_join and parallel_for. Without ParlayLib in the include path they are declared
// here as well.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include <creek/core/error.hpp>
#include <creek/tasking/parallel_for.hpp>
#include <creek/tasking/runtime.hpp>
#include <creek/tasking/this_worker.hpp>

#if defined(PARLAY_PARALLEL_H_)
#error "creek/tasking/parlay.hpp must be included before every header of ParlayLib"
#elif defined(PARLAY_CILKPLUS) || defined(PARLAY_OPENCILK) || defined(PARLAY_OPENMP) || \
    defined(PARLAY_TBB)
#error "creek/tasking/parlay.hpp: ParlayLib's options already choose another scheduler"
#elif __has_include(<parlay/parallel.h>)
// ParlayLib takes the scheduler without threads for one that it has included already.
#ifndef PARLAY_SEQUENTIAL
#define PARLAY_SEQUENTIAL
#endif
#define PARLAY_INTERNAL_SCHEDULER_PLUGINS_SEQUENTIAL_H_
#include <parlay/parallel.h>
#else
namespace parlay {
inline std::size_t num_workers();
inline std::size_t worker_id();
template <class F>
inline void parallel_for(std::size_t start, std::size_t end, F&& f, long granularity = 0,
                         bool conservative = false);
template <class Left, class Right>
inline void par_do(Left&& left, Right&& right, bool conservative = false);
}  // namespace parlay
#endif

namespace creek::detail {

/// The runtime for calls of threads that belong to none. Made at the first use, destroyed with the
/// static objects that were made before; calls after that run in their thread.
class parlay_runtime {
 public:
  /// Calls f() in a runtime: the caller's, or else this one. Returns false, without a call, if the
  /// caller is in none and this one has been destroyed.
  template <class F>
  static bool enter(F&& f) {
    if (current_stack != nullptr || current_executor() != nullptr) {
      f();
      return true;
    }
    if (has_ended_) return false;
    instance().workers_.run(f);
    return true;
  }
  /// Returns the number of workers of the runtime that enter() would use.
  static unsigned worker_count() {
    if (const executor* home = current_executor()) return home->traits().worker_count;
    return has_ended_ ? 1 : instance().workers_.worker_count();
  }
  /// Returns a runtime with `workers` workers, or with as many as the environment says if 0.
  static runtime make(unsigned workers) {
    scheduler_options options = scheduler_options::from_environment();
    if (workers != 0) options.workers = workers;
    // ParlayLib's own workers have the stacks of threads.
    if (value("CREEK_STACK_SIZE") == nullptr) options.stack_size = std::size_t{8} << 20;
    const char* backend = value("CREEK_BACKEND");
    return runtime(options, backend != nullptr ? backend : "host");
  }

 private:
  parlay_runtime() : workers_(make(workers_of_environment())) {}
  ~parlay_runtime() { has_ended_ = true; }

  static parlay_runtime& instance() {
    static parlay_runtime only;
    return only;
  }
  /// Returns the variable's value, or nullptr if it is not set or empty.
  static const char* value(const char* variable) noexcept {
    const char* text = std::getenv(variable);
    return text != nullptr && *text != '\0' ? text : nullptr;
  }
  /// Returns the value of PARLAY_NUM_THREADS, which ParlayLib's own scheduler reads; 0 if not set.
  static unsigned workers_of_environment() {
    const char* text = value("PARLAY_NUM_THREADS");
    if (text == nullptr) return 0;
    const char* const end = text + std::strlen(text);
    unsigned workers = 0;
    const auto [rest, failure] = std::from_chars(text, end, workers);
    if (failure != std::errc{} || rest != end || workers == 0 ||
        workers > scheduler_options::max_workers) {
      throw usage_error("PARLAY_NUM_THREADS must be between 1 and " +
                        std::to_string(scheduler_options::max_workers) + ", got " + text);
    }
    return workers;
  }

  /// Trivial: it is read after the object is gone.
  static inline constinit bool has_ended_ = false;

  runtime workers_;
};

}  // namespace creek::detail

namespace parlay {

/// Returns the number of workers of the runtime that the caller's loops and forks run on: the one
/// that it runs in, or that of the process.
inline std::size_t num_workers() {
  return creek::detail::parlay_runtime::worker_count();
}

/// Returns the number of the calling worker, less than num_workers(), which no other thread has
/// that runs in the same runtime; 0 outside of one. May change across every call that forks.
inline std::size_t worker_id() {
  const int worker = creek::this_worker();
  return worker < 0 ? 0 : static_cast<std::size_t>(worker);
}

/// Calls f(i) for each i of [start, end), concurrently. A piece of `granularity` calls runs in
/// order on one worker; 0: creek measures. `conservative` has no effect: no unrelated task runs on
/// a waiting stack. Errors: as creek::parallel_for.
template <class F>
inline void parallel_for(std::size_t start, std::size_t end, F&& f, long granularity,
                         bool /*conservative*/) {
  static_assert(std::is_invocable_v<F&, std::size_t>);
  if (start >= end) return;
  const std::size_t grain = granularity > 0 ? static_cast<std::size_t>(granularity) : 0;
  const bool is_one_piece = end - start == 1 || end - start <= grain;
  const auto loop = [&] { creek::parallel_for(start, end, f, {.grain = grain}); };
  if (is_one_piece || !creek::detail::parlay_runtime::enter(loop)) {
    for (std::size_t i = start; i < end; ++i) f(i);
  }
}

/// Calls left() here and right() here or on an idle worker. Returns when both have ended. Errors:
/// as creek::fork_join.
template <class Left, class Right>
inline void par_do(Left&& left, Right&& right, bool /*conservative*/) {
  static_assert(std::is_invocable_v<Left&&> && std::is_invocable_v<Right&&>);
  const auto run_left = [&] { std::forward<Left>(left)(); };
  const auto run_right = [&] { std::forward<Right>(right)(); };
  if (!creek::detail::parlay_runtime::enter([&] { creek::fork_join(run_left, run_right); })) {
    run_left();
    run_right();
  }
}

/// Calls f() in a runtime of its own with `workers` workers, which is gone afterwards. Loops and
/// forks in it run there.
template <class F>
void execute_with_scheduler(unsigned workers, F&& f) {
  creek::runtime own = creek::detail::parlay_runtime::make(workers);
  own.run([&] { std::invoke(std::forward<F>(f)); });
}

}  // namespace parlay

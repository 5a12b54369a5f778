// SPDX-License-Identifier: Apache-2.0
// SuperMatrix's engine: a program enqueues tasks with the blocks that each reads and writes; the
// graph finds their dependences at run time and runs the tasks out of order on the workers.
// Sources: SuperMatrix [Chan 2008];
// [Quintana-Orti 2009].
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <new>
#include <span>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <creek/core/measuring/clock.hpp>
#include <creek/core/work_graph.hpp>
#include <creek/linalg/matrix.hpp>

namespace creek::linalg {

/// How a task accesses a block. Tasks that change it commutatively, with no other access in
/// between, may run in any order, but no two of them at the same time.
enum class access : std::uint8_t { in = 1, out = 2, inout = 3, commutative = 4 };

/// Bytes of a block that starts at some address: `columns` pieces of `column_bytes` bytes, each
/// `stride` bytes after the previous one.
struct block_extent {
  std::size_t column_bytes = 0;
  std::size_t columns = 0;  ///< 0: the extent is unknown
  std::size_t stride = 0;
};

/// Block that a task uses: an address, compared but never dereferenced, and perhaps an extent.
///
/// Without extents, blocks that overlap without starting at the same byte are different blocks.
/// Blocks with extents are the same as far as they overlap; one without counts as the byte at its
/// address among them. For parts of one matrix (one stride), and for blocks without gaps, this is
/// exact. Of two blocks with gaps and different strides, all bytes from the first to the last one
/// are compared, so tasks may wait without need.
struct operand {
  const void* block;
  access how;
  /// Bytes of the block that the task moves, 0: unknown. An observer (execution_observer.hpp) is
  /// told of so many bytes read before the task and written after it, as `how` says; elsewhere
  /// without effect.
  std::size_t bytes = 0;
  block_extent extent{};
};
/// Returns the operand of a task that reads the block.
constexpr operand in(const void* block, std::size_t bytes = 0) noexcept {
  return {block, access::in, bytes};
}
/// Returns the operand of a task that overwrites the block without reading it.
constexpr operand out(const void* block, std::size_t bytes = 0) noexcept {
  return {block, access::out, bytes};
}
/// Returns the operand of a task that reads and changes the block.
constexpr operand inout(const void* block, std::size_t bytes = 0) noexcept {
  return {block, access::inout, bytes};
}
/// Returns the operand of a task that changes the block, before or after others that do. The order
/// of floating-point sums is then another in each run.
constexpr operand commutative(const void* block, std::size_t bytes = 0) noexcept {
  return {block, access::commutative, bytes};
}
/// Returns an operand with the extent of the view. An empty view counts as its address alone.
template <class T>
operand operand_of(const matrix_view<T>& block, access how) noexcept {
  if (block.empty()) return {block.data(), how};
  const auto bytes_in = [](index_t elements) {
    return static_cast<std::size_t>(elements) * sizeof(T);
  };
  return {
      block.data(),
      how,
      bytes_in(block.rows() * block.cols()),
      {bytes_in(block.rows()), static_cast<std::size_t>(block.cols()), bytes_in(block.leading())}};
}
/// Like in(const void*), for the elements of a view: views that overlap are found.
template <class T>
operand in(const matrix_view<T>& block) noexcept {
  return operand_of(block, access::in);
}
template <class T>
operand out(const matrix_view<T>& block) noexcept {
  return operand_of(block, access::out);
}
template <class T>
operand inout(const matrix_view<T>& block) noexcept {
  return operand_of(block, access::inout);
}
template <class T>
operand commutative(const matrix_view<T>& block) noexcept {
  return operand_of(block, access::commutative);
}

struct task_info {
  const char* name = "task";  ///< kept by address: a literal, or text that outlives the graph
  double flops = 0;           ///< length on the critical path; 0 counts as 1 there. An observer
                              ///< is told of them; the body states other work
  int priority = 0;           ///< ready tasks of a higher one begin first, on any worker
};

struct graph_options {
  /// Maximum number of unfinished tasks in the graph; when it is reached, the enqueuing thread
  /// executes tasks. Bounds the memory, and how far ahead dependences and the critical path are
  /// known. At least 1. With one worker 256 are enough, and no more are used.
  std::size_t window = 4096;
  /// Only finds the dependences: no body runs or is kept. Memory grows with the graph.
  bool dry_run = false;
  /// Fills graph_report::runs; costs 40 bytes and two clock readings per task.
  bool record = false;
  /// Once a stop is requested, tasks that have not begun do not run: see task_graph::cancel().
  std::stop_token stop{};
};

/// Record of one task that ran.
struct task_run {
  const char* name;
  std::uint64_t number;  ///< position in the order of add(), from 0
  int worker;            ///< worker that finished it; -1 on a plain thread
  bool skipped;          ///< the body did not run
  bool in_nanoseconds;   ///< `start` and `end` are of the backend's own clock, else in ticks
  ticks start, end;

  std::chrono::nanoseconds length() const noexcept;
};

struct task_count {
  std::string name;
  std::size_t tasks = 0;
  double flops = 0;
};

/// Summary of a graph. Only a dry run fills the members of the second group.
struct graph_report {
  std::size_t tasks = 0;            ///< all tasks added
  std::size_t skipped = 0;          ///< tasks not run: cancelled, or after a failure
  std::size_t edges = 0;            ///< dry run: all. Otherwise those on tasks unfinished at add()
  double flops = 0;                 ///< of all tasks
  std::size_t peak_unfinished = 0;  ///< most tasks in the graph at once
  std::size_t peak_bytes = 0;       ///< peak of the graph's own memory, without bodies on the heap
  unsigned workers = 0;             ///< workers available to the graph
  std::vector<task_run> runs;       ///< with graph_options::record, in the order of add()

  double critical_path = 0;        ///< flops on the longest chain; divide by a rate to get time
  std::size_t depth = 0;           ///< tasks on the chain with the most tasks
  double parallelism = 0;          ///< flops / critical_path: the largest possible speedup
  std::size_t widest_level = 0;    ///< most tasks at the same distance from the beginning
  std::vector<task_count> counts;  ///< per name, in the order of first use
};

/// Returns the shares of the time from the first start to the last end during which 0, 1, ...
/// workers ran tasks: workers + 1 entries. Empty without runs.
std::vector<double> activity(std::span<const task_run> runs, unsigned workers);

/// Returns `plan` with the tasks' seconds in a recorded run of the same program in place of their
/// flops. Throws usage_error if that run had other tasks.
work_graph measured(work_graph plan, std::span<const task_run> runs);

namespace detail {

class graph_engine;

/// Runs the body that lies at `body` if `run` is set, and destroys it.
using body_call = void (*)(void* body, bool run);

inline constexpr std::size_t inline_body = 128;

template <class F>
void call_body(void* body, bool run) {
  struct owner {
    F* function;
    ~owner() { std::destroy_at(function); }
  } const owned{std::launder(static_cast<F*>(body))};
  if (run) std::invoke(*owned.function);
}

/// Body that is too large for a task record, or whose move may throw.
template <class F>
struct boxed_body {
  std::unique_ptr<F> function;
  void operator()() { std::invoke(*function); }
};

}  // namespace detail

/// Graph of tasks. One task or one plain thread calls add() and wait(); bodies must not add to the
/// graph that they are in (they may have graphs of their own).
///
/// In a task of a creek::runtime, the runtime's workers run the graph, from the first add() on. On
/// a plain thread, that thread runs it, when the window is full and in wait().
///
/// Order: a task begins when all earlier tasks that it depends on have finished: those
/// that write a block it reads (flow), that read a block it writes (anti), or that
/// write a block it writes (output). Ready tasks of larger priority go first; then
/// tasks with the longer remaining path in flops, among the tasks known when the task
/// became ready; then in the order of add(). Among equals a worker prefers blocks that
/// it wrote last.
/// A body is a task of its own: it may fork, spawn and wait, and ends when all that it spawned has
/// ended. It must not wait for another task of its graph. add() and wait() may move the caller to
/// another thread: do not hold a lock across them.
class task_graph {
 public:
  task_graph() : task_graph(graph_options{}) {}
  /// Throws usage_error for a window of 0.
  explicit task_graph(graph_options options);
  task_graph(const task_graph&) = delete;
  task_graph& operator=(const task_graph&) = delete;
  /// Waits for all tasks; drops the exceptions of bodies.
  ~task_graph();

  /// Enqueues `body`, which is called once without arguments (or dropped, see wait()). Bodies of up
  /// to 128 bytes are kept in the graph, larger ones on the heap. Takes amortised constant time,
  /// except for operands that many unfinished tasks read and this one writes; with a full window,
  /// the time of one task. Throws std::bad_alloc and leaves the graph unchanged.
  template <class F>
  void add(const task_info& info, std::span<const operand> operands, F body) {
    static_assert(std::is_invocable_v<F&>, "a body is called without arguments");
    if constexpr (sizeof(F) <= detail::inline_body && alignof(F) <= 16 &&
                  std::is_nothrow_move_constructible_v<F>) {
      if (void* place = prepare(info, operands)) {
        ::new (place) F(std::move(body));
        commit(&detail::call_body<F>);
      }
    } else {
      add(info, operands, detail::boxed_body<F>{std::make_unique<F>(std::move(body))});
    }
  }
  template <class F>
  void add(const task_info& info, std::initializer_list<operand> operands, F body) {
    add(info, std::span<const operand>(operands.begin(), operands.size()), std::move(body));
  }

  /// Blocks until all tasks are done, and makes the graph ready for new ones. If a body threw,
  /// tasks that read a block it writes do not run, nor do tasks that read a block written by those,
  /// and so on; all others run. A block that a later task overwrites without reading it is valid
  /// again. Finally rethrows the first exception.
  graph_report wait();

  /// Prevents tasks that have not begun from running, until wait() returns. Any thread may call it.
  void cancel() noexcept;
  bool is_cancelled() const noexcept;

  /// Writes the graph that a dry run found, from its first add() to the first add() after wait():
  /// nodes with name, flops and level, edges with their kind. Throws usage_error without dry_run.
  void write_dot(std::ostream& to) const;
  void write_json(std::ostream& to) const;
  /// Returns the same graph for planners such as creek::power's slack_reduction: the work of a task
  /// is its flops, and its index is the task's number in a graph that runs the same program. Takes
  /// as much memory as the graph. Throws usage_error without dry_run.
  work_graph plan() const;

 private:
  /// Finds the dependences; returns the address for the body, or nullptr if no body is needed.
  void* prepare(const task_info& info, std::span<const operand> operands);
  /// Called when the body is in place: the task may run.
  void commit(detail::body_call call) noexcept;

  std::unique_ptr<detail::graph_engine> engine_;
};

}  // namespace creek::linalg

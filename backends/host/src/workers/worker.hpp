// SPDX-License-Identifier: Apache-2.0
// A worker: a thread, the fiber it runs, and its private data.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

#include <creek/core/measuring/counters.hpp>
#include <creek/tasking/ext/executor.hpp>

#include "fibers/fiber.hpp"
#include "fibers/fiber_pool.hpp"
#include "messages/kept_posts.hpp"
#include "messages/message_backlog.hpp"
#include "recorder.hpp"
#include "scheduling/found_work.hpp"
#include "scheduling/victim_order.hpp"
#include "worker_place.hpp"

namespace creek::host_backend {

class worker_loop;
struct loan;

/// Action due for the fiber that was just left, once its context is saved.
struct departure {
  enum class kind : std::uint8_t { none, recycle, make_ready, hold, publish } what = kind::none;
  fiber* left = nullptr;
  ext::publish_fn publish = nullptr;
  void* argument = nullptr;
};

/// A part of a sum, which one thread at a time changes and any may read.
class partial_sum {
 public:
  void add(std::int64_t more) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  std::int64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

/// A worker's data. The parts up to `place` are used only by who holds that, normally the worker's
/// own thread, except where noted.
struct alignas(128) worker {
  worker_loop* loop = nullptr;
  unsigned index = 0;
  bool serves_only = false;  ///< takes no tasks but those of calls that wait here
  fiber* current = nullptr;
  std::atomic<recorder*> records{nullptr};  ///< null: neither traced nor profiled
  fiber_cache idle_fibers;
  departure after;
  fiber native;            ///< stands for the thread's own stack
  fiber* first = nullptr;  ///< the fiber on which the thread begins
  victim_order victims;
  unsigned choices = 0;       ///< made while there were tasks of high or low priority
  unsigned continued = 0;     ///< times that a waiting strand looked for another to continue
  unsigned strand_turns = 0;  ///< times that resumed strands went before other work
  unsigned services = 0;      ///< times that it has handled messages in its loop
  unsigned small_steals = 0;  ///< stolen tasks in a row that were not worth it
  worker_counters counters;
  bool woke = false;            ///< its last message woke another worker
  bool handler_yields = false;  ///< a strand that handles a message waits behind others
  bool gets_messages = false;   ///< there are boxes
  unsigned calls_in_place = 0;  ///< times that a call to this worker ran on its caller
  message_backlog backlog;      ///< messages that came while others were handled or sent
  kept_posts kept_back;         ///< posts that others may be merged with
  std::uint64_t news = 0;       ///< times that a strand here may have heard of what others sent
  loan* borrowed = nullptr;     ///< set while another thread acts as this worker
  found_work kept;              ///< left by a borrower for the worker's thread
  bool begins_asleep = false;   ///< counted as a sleeper until its thread has begun
  partial_sum suspended;        ///< strands that were suspended here, without those that went on
  worker_place place;
  std::thread thread;
  std::byte* signal_stack = nullptr;

  /// Read by thieves.
  alignas(64) std::atomic<ext::stealable_stack*> active{nullptr};
  fiber_queue ready;
  /// Read by senders of messages.
  fiber_queue bound;                    ///< ready fibers that stay here
  std::atomic<bool> asleep{false};      ///< it sleeps, or is about to
  std::atomic<bool> listens{false};     ///< it is in its loop, where it looks for messages
  std::atomic<bool> called{false};      ///< a sender has asked its strand to yield
  std::atomic<std::uint32_t> rings{0};  ///< of a worker that serves only: calls from sleep

  /// Returns what records the worker, or null. Any thread.
  recorder* recording() const noexcept { return records.load(std::memory_order_acquire); }
};

}  // namespace creek::host_backend

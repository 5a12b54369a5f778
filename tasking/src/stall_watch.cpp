// SPDX-License-Identifier: Apache-2.0
// The stall detector, and the thread that looks for stalls in wall time.
#include <creek/tasking/ext/stall_watch.hpp>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

#include <creek/core/decimal.hpp>
#include <creek/core/error.hpp>
#include <creek/core/threads/futex.hpp>
#include <creek/tasking/detail/closure_message.hpp>
#include <creek/tasking/waiting.hpp>

namespace creek::ext {

// --- Notes --------------------------------------------------------------------------------------

stall_watch::stall_watch(const scheduler_options& options, unsigned workers)
    : workers_(workers),
      limit_(options.stall_limit),
      on_stall_(options.on_stall),
      notes_(std::make_unique<note[]>(workers)) {
  if (limit_ < limit_.zero())
    throw usage_error("stall_limit must not be negative; zero means none");
  stall_watches.fetch_add(1, std::memory_order_relaxed);
}

stall_watch::~stall_watch() {
  stall_watches.fetch_sub(1, std::memory_order_relaxed);
}

stall_watch::invocation stall_watch::exchange(unsigned worker, invocation next) noexcept {
  note& mine = notes_[worker];
  const invocation before{mine.method.load(std::memory_order_relaxed),
                          mine.object.load(std::memory_order_relaxed)};
  // Released by the stores behind it: a reader of one of these also sees that `since` has changed.
  mine.since.store(0, std::memory_order_relaxed);
  mine.method.store(next.method, std::memory_order_release);
  mine.object.store(next.object, std::memory_order_release);
  if (next.method != nullptr) {
    mine.since.store(now().count(), std::memory_order_seq_cst);
    begun();
  }
  return before;
}

bool stall_watch::look_at(unsigned worker) noexcept {
  note& at = notes_[worker];
  const std::int64_t since = at.since.load(std::memory_order_seq_cst);
  if (since == 0) return false;
  const std::chrono::nanoseconds busy = now() - std::chrono::nanoseconds{since};
  if (busy <= limit_ || at.reported == since) return true;
  const char* const method = at.method.load(std::memory_order_acquire);
  const std::uint64_t object = at.object.load(std::memory_order_acquire);
  if (at.since.load(std::memory_order_relaxed) != since) return true;  // another invocation by now
  at.reported = since;
  report({core_id{static_cast<int>(worker)}, object, readable_name(method), busy});
  return true;
}

void stall_watch::report(const stall_report& found) const noexcept {
  if (on_stall_) {
    on_stall_(found);
    return;
  }
  const std::string of = found.object == 0 ? "a call" : "a call of object " + decimal(found.object);
  std::fprintf(stderr, "creek: %s has kept worker %d busy for %lld ms without waiting: %s\n",
               of.c_str(), found.worker.value,
               static_cast<long long>(found.busy / std::chrono::milliseconds{1}),
               found.method.c_str());
}

// --- Marks --------------------------------------------------------------------------------------

void invocation_mark::begin(const activation& here, const task_type* type) noexcept {
  executor* const home = current_executor();
  if (home == nullptr || home->stalls() == nullptr) return;
  watch_ = home->stalls();
  worker_ = home->worker_index();
  before_ =
      watch_->exchange(static_cast<unsigned>(worker_),
                       {type->name, here.object != nullptr ? here.object->place().generation : 0});
}

void invocation_mark::end() noexcept {
  // On tbb the call may have moved meanwhile; calls below it moved along, unwatched from then on.
  const executor* const home = current_executor();
  if (home == nullptr) return;  // in the child of a fork()
  const int worker = home->worker_index();
  watch_->exchange(static_cast<unsigned>(worker),
                   worker == worker_ ? before_ : stall_watch::invocation{});
}

void stall_pause::begin(executor& home) noexcept {
  if (home.stalls() == nullptr) return;
  home_ = &home;
  paused_ = home.stalls()->exchange(static_cast<unsigned>(home.worker_index()), {});
}

void stall_pause::end() noexcept {
  home_->stalls()->exchange(static_cast<unsigned>(home_->worker_index()), paused_);
}

// --- In wall time -------------------------------------------------------------------------------

namespace {

class stall_watchdog final : public stall_watch {
 public:
  using stall_watch::stall_watch;
  ~stall_watchdog() override {
    state_.store(stopped, std::memory_order_seq_cst);
    futex_wake(state_, 1);
    if (thread_.joinable()) thread_.join();
  }

 private:
  enum state : std::uint32_t { watching, asleep, stopped };

  std::chrono::nanoseconds now() const noexcept override {
    return deadline_clock::now().time_since_epoch();
  }

  /// The note was made before, so the thread either finds it before it sleeps, or is found asleep.
  void begun() noexcept override {
    std::call_once(started_, [this] { start(); });
    std::uint32_t expected = asleep;
    if (state_.load(std::memory_order_seq_cst) == asleep &&
        state_.compare_exchange_strong(expected, watching, std::memory_order_seq_cst)) {
      futex_wake(state_, 1);
    }
  }

  void start() noexcept {
    try {
      thread_ = std::thread([this] { watch(); });
    } catch (const std::system_error& failure) {
      std::fprintf(stderr, "creek: no thread for the stall detector: %s\n", failure.what());
    }
  }

  bool look() noexcept {
    bool any = false;
    for (unsigned i = 0; i < workers(); ++i) any = look_at(i) || any;
    return any;
  }

  /// A stall is found within a quarter of the limit.
  void watch() noexcept {
    const std::chrono::nanoseconds period =
        std::max<std::chrono::nanoseconds>(limit() / 4, std::chrono::microseconds{50});
    for (;;) {
      const auto next = deadline_clock::now() + period;
      while (state_.load(std::memory_order_acquire) == watching &&
             futex_wait_until(state_, watching, next) != futex_status::timed_out) {
      }
      std::uint32_t expected = watching;
      if (!look() && state_.compare_exchange_strong(expected, asleep, std::memory_order_seq_cst) &&
          look()) {
        expected = asleep;
        state_.compare_exchange_strong(expected, watching, std::memory_order_seq_cst);
      }
      while (state_.load(std::memory_order_acquire) == asleep) futex_wait(state_, asleep);
      if (state_.load(std::memory_order_acquire) == stopped) return;
    }
  }

  std::once_flag started_;
  std::thread thread_;
  std::atomic<std::uint32_t> state_{watching};
};

}  // namespace

std::unique_ptr<stall_watch> make_stall_watch(const scheduler_options& options) {
  if (options.stall_limit == options.stall_limit.zero()) return nullptr;
  return std::make_unique<stall_watchdog>(options, options.workers);
}

}  // namespace creek::ext

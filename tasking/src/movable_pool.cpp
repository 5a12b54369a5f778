// SPDX-License-Identifier: Apache-2.0
#include <creek/tasking/detail/movable_pool.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include <creek/core/error.hpp>

#include "movable_workers.hpp"

namespace creek::detail {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

thread_local movable_pool* pool_of_thread = nullptr;

/// A thread that runs tasks looks for messages so often. An estimate: a look without any costs half
/// a microsecond.
constexpr auto between_looks = 30us;
/// Tasks that are run without a look at the clock, if they are short.
constexpr unsigned max_tasks_unclocked = 32;
/// Bytes of a message beyond which no further task is added to it.
constexpr std::size_t max_message = std::size_t{256} << 10;

}  // namespace

movable_pool::movable_pool(object_space& space, runtime* workers)
    : space_(space), random_(static_cast<unsigned>(space.rank()) + 1) {
  if (pool_of_thread != nullptr) {
    throw usage_error("a thread can have one movable_tasks at a time: end the other one first");
  }
  if (workers != nullptr) workers_ = std::make_unique<movable_workers>(*workers);
  pool_of_thread = this;
  try {
    space.barrier();  // from now on each rank has a pool
  } catch (...) {
    pool_of_thread = nullptr;
    throw;
  }
}

movable_pool::~movable_pool() {
  pool_of_thread = nullptr;
}

movable_pool& movable_pool::current() {
  if (pool_of_thread == nullptr) throw usage_error("this rank has no movable_tasks");
  return *pool_of_thread;
}

std::size_t movable_pool::threads() const noexcept {
  return workers_ ? workers_->threads() : 1;
}

void movable_pool::run(const std::vector<void*>& results) {
  ++run_;
  counts_ = {};
  own_.result = results.front();
  if (workers_) {
    workers_->set_results(results);
    want_shares();
    if (!own_.empty()) workers_->add(std::move(own_));
  }
  run_until_empty();
  // A rank that gets tasks runs them in a post, and asks for more in it. So no call is under way
  // only when there are no tasks.
  space_.barrier();
  std::erase_if(parked_, [&](const request& each) { return each.run <= run_; });
}

void movable_pool::run_until_empty() {
  struct working {
    bool& flag;
    explicit working(bool& its_flag) : flag(its_flag) { flag = true; }
    ~working() { flag = false; }
  };
  {
    const working now(is_working_);
    workers_ ? run_on_workers() : run_alone();
  }
  look_for_tasks();
}

void movable_pool::run_alone() {
  auto looked = clock::now(), read = looked;
  unsigned unclocked = 1, left = 1;
  while (!own_.empty()) {
    own_.run_newest();
    if (--left != 0) continue;
    auto now = clock::now();
    if (now - looked >= between_looks) {
      space_.poll();
      serve_parked();
      looked = now = clock::now();
      unclocked = std::max(1u, unclocked / 2);
    } else if (now - read < between_looks / 8) {
      unclocked = std::min(2 * unclocked, max_tasks_unclocked);
    }
    read = now;
    left = unclocked;
  }
}

void movable_pool::run_on_workers() {
  // A thread that wakes takes a processor from the workers.
  constexpr std::chrono::microseconds min_pause = 50us, max_pause = 1ms;
  for (auto pause = min_pause; !workers_->wait_for(pause);) {
    const bool has_served = space_.poll() != 0;
    serve_parked();
    pause = has_served ? min_pause : std::min(2 * pause, max_pause);
  }
}

void movable_pool::request_tasks(int thief, std::uint32_t run, int hops) {
  movable_pool& here = current();
  const bool is_early = run != here.run_;  // the thief is in the next run
  if (!is_early && here.give(thief)) return;
  if (hops < 0) return here.park({thief, run});
  if (hops == 0 || is_early) return here.space_.post_on<&movable_pool::refuse>(thief, run);
  here.space_.post_on<&movable_pool::request_tasks>(here.random_rank_but(thief), thief, run,
                                                    hops - 1);
}

void movable_pool::refuse(std::uint32_t run) {
  movable_pool& here = current();
  if (run != here.run_ || here.is_working_) return;
  for (int bit = 1; bit < here.space_.size(); bit *= 2) {
    const int lifeline = here.space_.rank() ^ bit;
    if (lifeline < here.space_.size()) here.ask(lifeline, -1);
  }
}

void movable_pool::receive_tasks(std::uint32_t run, std::string_view message) {
  movable_pool& here = current();
  if (run != here.run_) throw error(EBADMSG, "tasks of another run");
  if (here.workers_) {
    movable_bag tasks;
    here.counts_.taken += tasks.decode(here.space_, message);
    here.workers_->add(std::move(tasks));
  } else {
    here.counts_.taken += here.own_.decode(here.space_, message);
  }
  if (!here.is_working_) here.run_until_empty();
}

/// Gives a rank the older half of the tasks. Returns whether there were some to spare.
bool movable_pool::give(int thief) {
  movable_bag share;
  if (workers_ && !workers_->take(share)) return false;
  movable_bag& from = workers_ ? share : own_;
  const std::size_t count = workers_ ? share.size() : own_.size() / 2;
  if (count == 0) return false;
  std::vector<std::byte> message;
  const std::size_t given = from.encode_oldest(count, max_message, message);
  if (!share.empty()) workers_->add(std::move(share));
  counts_.given += given;
  ++counts_.messages;
  // May serve calls first, which may give, too.
  space_.post_on<&movable_pool::receive_tasks>(
      thief, run_, std::string_view(reinterpret_cast<const char*>(message.data()), message.size()));
  return true;
}

void movable_pool::park(request one) {
  const auto has_parked = [&](const request& each) {
    return each.thief == one.thief && each.run == one.run;
  };
  if (std::ranges::any_of(parked_, has_parked)) return;
  parked_.push_back(one);
  want_shares();
}

/// While there are tasks, no rank is in a later run.
void movable_pool::serve_parked() {
  while (!parked_.empty()) {
    const request first = parked_.front();
    parked_.erase(parked_.begin());
    if (!give(first.thief)) return park(first);
    want_shares();
  }
}

void movable_pool::want_shares() {
  if (!workers_) return;
  // One lies ready for the next request.
  workers_->want(space_.size() == 1 ? 0 : parked_.size() + 1);
}

void movable_pool::look_for_tasks() {
  const int size = space_.size();
  if (size == 2) ask(1 - space_.rank(), -1);
  if (size > 2) ask(random_rank_but(space_.rank()), 1);
}

void movable_pool::ask(int victim, int hops) {
  space_.post_on<&movable_pool::request_tasks>(victim, space_.rank(), run_, hops);
}

/// Returns a rank that is neither this one nor the thief.
int movable_pool::random_rank_but(int thief) {
  for (;;) {
    const auto rank = static_cast<int>(random_() % static_cast<unsigned>(space_.size()));
    if (rank != thief && rank != space_.rank()) return rank;
  }
}

}  // namespace creek::detail

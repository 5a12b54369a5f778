// SPDX-License-Identifier: Apache-2.0
// Runs a few cooperating bodies of code under every interleaving up to a bound on preemptions, or
// under seeded random ones. Each body is a user-level context that gives up control at each access
// to shared memory; all in one thread, so every run repeats exactly. Source of the search:
// CHESS [Musuvathi 2007]: few preemptions find most
// faults, and their number keeps the search small.
#pragma once

#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace creek::model {

/// Thrown by a body whose expectation does not hold.
struct violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};
inline void expect(bool holds, const char* what) {
  if (!holds) throw violation{what};
}

struct exploration {
  /// Exhaustive search: how often a body may be preempted although it could continue.
  int preemptions = 2;
  /// If not zero: makes that many random runs from `seed` instead of the search.
  std::uint64_t random_runs = 0;
  std::uint64_t seed = 1;
  /// Number of runs after which the search gives up; a test that reaches it is too large.
  std::uint64_t most_runs = 20'000'000;
};

struct outcome {
  std::uint64_t runs = 0;
  bool complete = true;
  std::string failure;  ///< message and number of the first run that failed; empty if none did
};

class explorer {
 public:
  explicit explorer(exploration how) : how_{how}, random_{how.seed} {}

  /// Calls `setup` for each run; it prepares fresh state and returns the bodies, one per core.
  /// Calls `check` on the state when all bodies have finished.
  using bodies = std::vector<std::function<void()>>;
  outcome explore(const std::function<bodies()>& setup, const std::function<void()>& check) {
    outcome result;
    do {
      ++result.runs;
      try {
        run(setup());
        check();
      } catch (const std::exception& e) {
        result.failure = "run " + std::to_string(result.runs) + ": " + e.what();
        return result;
      }
    } while (next_schedule(result));
    return result;
  }

  /// Lets another body run; a body calls it before each shared access.
  void step() {
    if (!stopping_) leave();
  }
  /// Waits until the condition holds; it may read shared state freely.
  void block(std::function<bool()> until) {
    if (stopping_) return;
    while (!until()) {
      tasks_[current_].ready = until;
      leave();
      tasks_[current_].ready = nullptr;
      if (stopping_) return;
    }
  }
  /// Returns true with the given probability in random runs, and false in the search.
  bool chance(double probability) {
    return how_.random_runs != 0 && std::bernoulli_distribution{probability}(random_);
  }

 private:
  struct task {
    boost::context::fiber fiber;
    std::function<bool()> ready;  // empty: can continue
    bool finished = false;
  };
  struct choice {
    std::size_t taken, of;
  };

  void leave() { main_ = std::move(main_).resume(); }

  void run(bodies all) {
    tasks_.clear();
    tasks_.resize(all.size());
    depth_ = 0;
    preempted_ = 0;
    failure_.reset();
    stopping_ = false;
    for (std::size_t i = 0; i < all.size(); ++i) start(i, std::move(all[i]));
    std::optional<std::size_t> last;
    while (!failure_) {
      find_runnable(last);
      if (runnable_.empty()) break;
      resume(runnable_[choose(runnable_.size())], last);
    }
    if (!failure_) report_deadlock();
    stop();
    if (failure_) throw violation{*failure_};
  }

  void start(std::size_t index, std::function<void()> body) {
    tasks_[index].fiber =
        boost::context::fiber{std::allocator_arg, stacks_,
                              [this, index, body = std::move(body)](boost::context::fiber&& main) {
                                main_ = std::move(main);
                                try {
                                  if (!stopping_) body();
                                } catch (const std::exception& e) {
                                  if (!failure_)
                                    failure_ = "core " + std::to_string(index) + ": " + e.what();
                                }
                                tasks_[index].finished = true;
                                return std::move(main_);
                              }};
  }

  // Puts the body that ran last first; others follow if it cannot continue or may be preempted.
  void find_runnable(std::optional<std::size_t> last) {
    runnable_.clear();
    const auto can_run = [this](std::size_t i) {
      return !tasks_[i].finished && (!tasks_[i].ready || tasks_[i].ready());
    };
    const bool goes_on = last && can_run(*last);
    if (goes_on) runnable_.push_back(*last);
    if (goes_on && how_.random_runs == 0 && preempted_ == how_.preemptions) return;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (i != last && can_run(i)) runnable_.push_back(i);
    }
  }

  void resume(std::size_t next, std::optional<std::size_t>& last) {
    if (last && next != *last && !tasks_[*last].finished && !tasks_[*last].ready) ++preempted_;
    last = next;
    current_ = next;
    tasks_[next].fiber = std::move(tasks_[next].fiber).resume();
  }

  std::size_t choose(std::size_t count) {
    if (count == 1) return 0;
    if (how_.random_runs != 0) return random_() % 4 != 0 ? 0 : random_() % count;
    if (depth_ == schedule_.size()) schedule_.push_back({0, count});
    return schedule_[depth_++].taken;
  }

  bool next_schedule(outcome& result) {
    if (how_.random_runs != 0) return result.runs < how_.random_runs;
    while (!schedule_.empty() && schedule_.back().taken + 1 == schedule_.back().of) {
      schedule_.pop_back();
    }
    if (schedule_.empty()) return false;
    ++schedule_.back().taken;
    result.complete = result.runs < how_.most_runs;
    return result.complete;
  }

  void report_deadlock() {
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (!tasks_[i].finished) failure_ = "deadlock: core " + std::to_string(i) + " waits for ever";
    }
  }

  // Unwinds the remaining stacks after a failure, without further switches.
  void stop() {
    stopping_ = true;
    for (task& t : tasks_) t.fiber = {};
  }

  exploration how_;
  std::mt19937_64 random_;
  boost::context::pooled_fixedsize_stack stacks_{64 * 1024};
  std::vector<task> tasks_;
  std::vector<std::size_t> runnable_;  // kept between steps for its memory
  std::vector<choice> schedule_;
  std::size_t depth_ = 0;
  std::size_t current_ = 0;
  int preempted_ = 0;
  bool stopping_ = false;
  std::optional<std::string> failure_;
  boost::context::fiber main_;
};

}  // namespace creek::model

// SPDX-License-Identifier: Apache-2.0
// Chooses the number of workers and their clock that minimise energy x time in the model, for the
// number of tasks that can run at once in the program's current phase.
#include <algorithm>
#include <atomic>
#include <vector>

#include "clock_wishes.hpp"
#include "named_policy.hpp"
#include "policy_makers.hpp"
#include "worker_draws.hpp"

namespace creek::power::detail {

namespace {

/// Estimate of how many tasks can run at once. It rises at once to the number just seen, as workers
/// would wait in vain and few events may follow; it falls as a mean of recent samples, so a wide
/// phase fades after tens of events. Any thread; a race loses a sample.
class observed_width {
 public:
  void begin(unsigned width) noexcept {
    scaled_.store(static_cast<int>(width) * scale, std::memory_order_relaxed);
  }
  void see(unsigned width) noexcept {
    const int now = scaled_.load(std::memory_order_relaxed);
    const int more = static_cast<int>(width) * scale - now;
    const int change = more > 0 ? more : more / 16;
    if (change != 0) scaled_.store(now + change, std::memory_order_relaxed);
  }
  unsigned value() const noexcept {
    return static_cast<unsigned>((scaled_.load(std::memory_order_relaxed) + scale / 2) / scale);
  }

 private:
  static constexpr int scale = 256;
  std::atomic<int> scaled_{0};
};

class energy_delay final : public named_policy {
 public:
  explicit energy_delay(const host_model& model) noexcept
      : named_policy("energy_delay"), model_(model) {}

  idle_plan worker_idle(unsigned worker) noexcept override {
    if (workers_[worker].in != place::nowhere) working_.fetch_sub(1, std::memory_order_relaxed);
    workers_[worker] = {};
    see(working_.load(std::memory_order_relaxed));  // this worker found nothing: no more can run
    return {idle_policy::block};
  }

  void task_about_to_run(unsigned worker, const task_profile& task) noexcept override {
    if (workers_[worker].in == place::nowhere) working_.fetch_add(1, std::memory_order_relaxed);
    workers_[worker] = {task.graph != nullptr ? place::in_graph : place::in_task};
    wishes_.wish(worker, chosen().step);
  }

  unsigned tasks_ready(unsigned worker, unsigned count) noexcept override {
    mine& own = workers_[worker];
    if (count == 1 && own.hired > 0) {  // no more than seen before
      --own.hired;
      return 1;
    }
    // A worker that makes tasks of a graph ready has usually just finished one.
    const unsigned ended = own.in == place::in_graph ? 1 : 0;
    if (ended != 0) own.hired = count;
    const unsigned others = working_.load(std::memory_order_relaxed) - ended;
    see(std::min(count, most_) + others);
    return count;
  }

  unsigned max_awake() const noexcept override { return chosen().active; }

 private:
  enum class place : std::uint8_t { nowhere, in_task, in_graph };
  struct alignas(64) mine {
    place in = place::nowhere;
    unsigned hired = 0;  ///< spawned by a graph, perhaps not begun yet
  };

  void see(unsigned width) noexcept { width_.see(std::clamp(width, 1U, most_)); }
  const operating_point& chosen() const noexcept {
    return best_[std::clamp(width_.value(), 1U, most_) - 1];
  }

  void start(const power_site& site) override {
    worker_draws draws;
    draws.begin(site, model_);
    most_ = site.workers;
    best_.clear();
    for (unsigned width = 1; width <= most_; ++width) best_.push_back(best_for(width, draws));
    workers_.assign(most_, {});
    working_.store(0, std::memory_order_relaxed);
    width_.begin(most_);
    wishes_.begin(site, name());
  }

  /// Time is inverse to the work done at once, so energy x time is like power over its square.
  static operating_point best_for(unsigned width, const worker_draws& draws) {
    operating_point best;
    double least = 0;
    for (unsigned active = 1; active <= width; ++active) {
      for (std::size_t step = 0; step < draws.steps(); ++step) {
        const double rate = active * draws.speed(step);
        const double product = draws.draw({active, step}).value / (rate * rate);
        if (least != 0 && product >= least) continue;
        best = {active, step};
        least = product;
      }
    }
    return best;
  }

  const host_model model_;
  unsigned most_ = 1;
  std::vector<operating_point> best_;  ///< by number of tasks that can run, from 1
  std::vector<mine> workers_;
  std::atomic<unsigned> working_{0};
  observed_width width_;
  clock_wishes wishes_;
};

}  // namespace

std::shared_ptr<power_policy> make_energy_delay(const policy_options& options) {
  options.model.validate();
  return std::make_shared<energy_delay>(options.model);
}

}  // namespace creek::power::detail

// SPDX-License-Identifier: Apache-2.0
#include <creek/power/linux_clocks.hpp>

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include <creek/core/error.hpp>
#include <creek/core/measuring/clock.hpp>
#include <creek/core/measuring/thread_cpu_time.hpp>
#include <creek/power/say_once.hpp>

#include "clock_domain.hpp"
#include "clock_layout.hpp"
#include "clock_setting.hpp"
#include "cpufreq.hpp"
#include "sysfs.hpp"
#include "undo_at_end.hpp"

namespace creek::power {

namespace {

// Minimum time between two checks, in settle times and in durations of a check.
constexpr double settles_between_checks = 5;
constexpr double checks_between_checks = 1000;
constexpr double busy_share = 0.9;  // minimum CPU time share of computing through

void check_options(const linux_clocks_options& options) {
  if (options.steps < 2 || options.steps > 64) {
    throw usage_error("linux_clocks_options::steps is " + std::to_string(options.steps) +
                      "; give 2 to 64");
  }
  if (options.settle.count() < 0) {
    throw usage_error("linux_clocks_options::settle is negative; give a time");
  }
  for (const int cpu : options.cpus) {
    if (cpu < 0) throw usage_error("linux_clocks_options::cpus contains a negative number");
  }
}

/// Returns the settings of each group; `why_not` tells what prevents setting one.
std::vector<std::unique_ptr<clock_domain>> open_domains(control_gate& gate,
                                                        const clock_layout& layout,
                                                        std::string& why_not) {
  std::vector<std::unique_ptr<clock_domain>> domains;
  for (const auto& group : layout.groups) {
    std::vector<std::unique_ptr<clock_setting>> settings;
    for (const cpufreq_policy& policy : group) {
      settings.push_back(std::make_unique<clock_setting>(policy));
      if (why_not.empty()) why_not = settings.back()->why_not();
    }
    domains.push_back(std::make_unique<clock_domain>(gate, std::move(settings)));
  }
  return domains;
}

/// A worker's record of the time since its last wish; read and written by this worker only.
struct alignas(64) worker_place {
  std::uint32_t domain = 0;
  std::uint32_t place = 0;
  int cpu = -1;  // CPU that the worker stays on, or -1
  bool watched = false;
  std::uint32_t changes = 0;
  ticks since;
  double cpu_seconds = 0;
};

class sysfs_clocks final : public clock_control, control_gate, undoable {
 public:
  sysfs_clocks(const linux_clocks_options& options, const clock_layout& layout,
               const std::vector<int>& cpus);
  ~sysfs_clocks() override;

  std::span<const units::hertz> clocks() const noexcept override { return clocks_; }
  std::string why_not() const override { return why_not_; }
  int domain(unsigned worker) const noexcept override {
    return worker < workers_.size() ? static_cast<int>(workers_[worker].domain) : 0;
  }
  void wish(unsigned worker, std::size_t step) noexcept override;
  units::hertz clock(unsigned worker) const noexcept override;
  void forget_wishes() noexcept override;
  std::string failed() const override;

 private:
  enum class refusal : int { none, other_control, child, stranger, end };

  bool may_change() noexcept override;
  void undo() noexcept override;
  void resume() noexcept override { closed.store(false, std::memory_order_seq_cst); }

  void refuse(refusal why) noexcept;
  void look_back(worker_place& worker, clock_domain& domain) noexcept;
  void look_ahead(worker_place& worker, clock_domain& domain) noexcept;

  std::string why_not_;  // before `domains_`, whose initializer sets it
  std::vector<units::hertz> clocks_;
  std::chrono::nanoseconds settle_;
  ticks settle_ticks_;
  std::vector<std::unique_ptr<clock_domain>> domains_;
  std::vector<worker_place> workers_;
  std::atomic<pid_t> owner_{0};  // process that made changes, or 0
  std::atomic<refusal> refused_{refusal::none};
  std::atomic<std::uint64_t> next_check_{0};  // in ticks
};

sysfs_clocks::sysfs_clocks(const linux_clocks_options& options, const clock_layout& layout,
                           const std::vector<int>& cpus)
    : clocks_(layout.clocks),
      settle_(options.settle),
      domains_(open_domains(*this, layout, why_not_)) {
  const std::size_t count = options.workers != 0 ? options.workers : cpus.size();
  std::vector<std::uint32_t> places(domains_.size());
  for (std::size_t i = 0; i < count; ++i) {
    const int cpu = cpus[i % cpus.size()];
    const auto at = std::find_if(domains_.begin(), domains_.end(),
                                 [cpu](const auto& each) { return each->holds(cpu); });
    const auto domain = static_cast<std::uint32_t>(at - domains_.begin());
    worker_place& worker = workers_.emplace_back();
    worker.domain = domain;
    worker.place = places[domain]++;
    worker.cpu = options.pinned ? cpu : -1;
  }
  for (std::size_t d = 0; d < domains_.size(); ++d) domains_[d]->add_workers(places[d], clocks_);
  // The first use measures, which must not happen during a wish.
  static_cast<void>(tick_clock::scale());
  settle_ticks_ = tick_clock::from_nanoseconds(settle_);
}

sysfs_clocks::~sysfs_clocks() {
  const bool ours = owner_.load(std::memory_order_relaxed) == getpid();
  if (ours) undo();
  forget(*this);
  if (!ours) return;
  for (const auto& each : domains_) {
    if (const std::string left = each->left_behind(); !left.empty()) say_once(left);
  }
}

void sysfs_clocks::refuse(refusal why) noexcept {
  refusal none = refusal::none;
  refused_.compare_exchange_strong(none, why, std::memory_order_relaxed);
}

bool sysfs_clocks::may_change() noexcept {
  const pid_t self = getpid();
  pid_t owner = owner_.load(std::memory_order_acquire);
  if (owner == self) return true;
  if (owner != 0) {
    refuse(refusal::child);
    return false;
  }
  const registration undoing = undo_at_end(*this);
  if (undoing != registration::done) {
    refuse(undoing == registration::too_late ? refusal::end : refusal::other_control);
    return false;
  }
  owner_.store(self, std::memory_order_release);
  return true;
}

void sysfs_clocks::undo() noexcept {
  closed.store(true, std::memory_order_seq_cst);
  undone.fetch_add(1, std::memory_order_seq_cst);
  // 50 us each, 1 s in all: another thread's writes take some microseconds, and on a busy machine
  // it may have to wait for a CPU.
  int patience = 20000;
  for (const auto& each : domains_) each->undo(patience);
}

void sysfs_clocks::wish(unsigned worker, std::size_t step) noexcept {
  if (worker >= workers_.size()) {
    refuse(refusal::stranger);
    return;
  }
  worker_place& self = workers_[worker];
  clock_domain& domain = *domains_[self.domain];
  const auto wanted = static_cast<std::uint32_t>(std::min(step, clocks_.size() - 1));
  if (domain.wish_of(self.place) == wanted) return;
  look_back(self, domain);
  domain.wish(self.place, wanted);
  look_ahead(self, domain);
}

void sysfs_clocks::forget_wishes() noexcept {
  for (const auto& each : domains_) each->forget_wishes();
  for (worker_place& each : workers_) each.watched = false;
  if (owner_.load(std::memory_order_relaxed) != getpid()) return;
  undo();
  resume();
}

/// Checks the clock if the worker has computed since look_ahead() without a change of the clock:
/// then its CPU knows the actual clock of the last wish.
void sysfs_clocks::look_back(worker_place& worker, clock_domain& domain) noexcept {
  if (!std::exchange(worker.watched, false) || domain.changes() != worker.changes) return;
  const ticks now = tick_clock::now();
  const std::chrono::nanoseconds span = tick_clock::to_nanoseconds(now - worker.since);
  const double computed = 1e9 * (thread_cpu_seconds() - worker.cpu_seconds);
  if (span < settle_ || computed < busy_share * static_cast<double>(span.count())) return;
  domain.check(worker.cpu >= 0 ? worker.cpu : sched_getcpu());
  const ticks end = tick_clock::now();
  const double pause = std::max(settles_between_checks * static_cast<double>(settle_ticks_.count),
                                checks_between_checks * static_cast<double>((end - now).count));
  next_check_.store(end.count + static_cast<std::uint64_t>(pause), std::memory_order_relaxed);
}

void sysfs_clocks::look_ahead(worker_place& worker, clock_domain& domain) noexcept {
  const ticks now = tick_clock::now();
  if (now.count < next_check_.load(std::memory_order_relaxed)) return;
  // Workers whose wishes change constantly must not read their CPU time each time.
  if (now - worker.since < settle_ticks_) return;
  worker.since = now;
  worker.cpu_seconds = thread_cpu_seconds();
  worker.changes = domain.changes();
  worker.watched = true;
}

units::hertz sysfs_clocks::clock(unsigned worker) const noexcept {
  return worker < workers_.size() ? domains_[workers_[worker].domain]->clock() : units::hertz{};
}

std::string sysfs_clocks::failed() const {
  switch (refused_.load(std::memory_order_relaxed)) {
    case refusal::other_control:
      return "another control of this process sets the clocks; end it first";
    case refusal::child:
      return "the clocks are set by the process that this one was forked from";
    case refusal::stranger:
      return "a worker wished that linux_clocks() was not told of; raise its option workers";
    case refusal::end:
      return "the process is about to end, and could not put the old settings back";
    case refusal::none:
      break;
  }
  if (closed.load(std::memory_order_relaxed)) {
    return "the old settings were put back because the process was about to end";
  }
  for (const auto& each : domains_) {
    if (std::string failure = each->failure(); !failure.empty()) return failure;
  }
  return {};
}

}  // namespace

std::shared_ptr<clock_control> linux_clocks(const linux_clocks_options& options) {
  check_options(options);
  const std::vector<int> cpus = options.cpus.empty() ? usable_cpus() : options.cpus;
  clock_layout layout = lay_out_clocks(sysfs::root(), cpus, options.pinned, options.steps);
  if (!layout.why_not.empty()) return std::make_shared<no_clock_control>(layout.why_not);
  auto control = std::make_shared<sysfs_clocks>(options, layout, cpus);
  if (!control->why_not().empty()) return std::make_shared<no_clock_control>(control->why_not());
  return control;
}

std::vector<linux_clock_policy> linux_clock_policies() {
  std::vector<linux_clock_policy> found;
  for (const cpufreq_policy& policy : read_cpufreq(sysfs::root())) {
    const clock_setting setting(policy);
    found.push_back({.cpus = policy.cpus,
                     .driver = policy.driver,
                     .governor = policy.governor,
                     .lowest = units::hertz{1e3 * static_cast<double>(policy.lowest)},
                     .highest = units::hertz{1e3 * static_cast<double>(policy.highest)},
                     .table = policy.clocks.size(),
                     .userspace = setting.by_userspace(),
                     .why_not = setting.why_not()});
  }
  return found;
}

}  // namespace creek::power

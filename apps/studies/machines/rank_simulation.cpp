// SPDX-License-Identifier: Apache-2.0
#include "rank_simulation.hpp"

#include <time.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include <creek/core/error.hpp>
#include <creek/mpi/process.hpp>

namespace creek::tool::machines {
namespace {

constexpr std::size_t stack_bytes = std::size_t{256} << 10;

exact_time microseconds(double count) {
  return nearest_exact_time(units::seconds{count * 1e-6});
}
std::chrono::nanoseconds to_chrono(exact_time span) {
  return std::chrono::nanoseconds(span.femtoseconds / 1'000'000);
}
exact_time to_exact(std::chrono::nanoseconds span) {
  return {span.count() * 1'000'000};
}

void require_size(std::size_t sent, std::size_t expected) {
  if (sent == expected) return;
  throw usage_error("a message of " + std::to_string(sent) + " bytes where " +
                    std::to_string(expected) + " are expected");
}

}  // namespace

std::chrono::nanoseconds process_cpu_time() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

class rank_simulation::call {
 public:
  explicit call(rank_simulation& of) : of_(&of) {
    if (of.measures_) of.charge_measured();
  }
  call(const call&) = delete;
  call& operator=(const call&) = delete;
  ~call() {
    if (of_->measures_) of_->measured_from_ = process_cpu_time();
  }

 private:
  rank_simulation* of_;
};

void rank_simulation::charge_measured() {
  const exact_time span = to_exact(process_cpu_time() - measured_from_);
  compute(span);
  here().computed_in[here().stage] += span;
}

void rank_simulation::doing(const char* stage) {
  if (!measures_) return;
  const call now(*this);
  here().stage = stage;
}

exact_time rank_simulation::computed_in(int rank, const std::string& stage) const {
  const auto& stages = ranks_[index(rank)].computed_in;
  const auto found = stages.find(stage);
  return found == stages.end() ? exact_time{} : found->second;
}

rank_simulation::rank_simulation(int ranks, const constants& costs)
    : latency_(microseconds(costs.latency_us - 2 * costs.overhead_us)),
      overhead_(microseconds(costs.overhead_us)),
      gap_(microseconds(costs.gap_us)),
      spin_(microseconds(costs.spin_us)),
      seconds_per_byte_(1e-9 / costs.bandwidth_GBs),
      eager_(static_cast<std::size_t>(costs.eager_KiB * 1024)),
      ranks_(index(ranks)),
      channels_(index(ranks) * index(ranks)) {
  if (latency_ < exact_time{}) {
    throw usage_error("latency_us must be at least twice overhead_us, which it contains");
  }
  for (int i = 0; i < ranks; ++i) {
    rank_state& made = ranks_[index(i)];
    made.home = this;
    made.number = i;
    std::byte* const low = map_guarded(stack_bytes);
    if (low == nullptr) {
      const int reason = errno;
      unwind();
      throw error(std::error_code(reason, std::generic_category()),
                  "cannot map stacks for " + std::to_string(ranks) + " ranks");
    }
    prepare_context(made, low, stack_bytes, [](switch_context& self, switch_context&) {
      auto& rank = static_cast<rank_state&>(self);
      rank.home->enter(rank);
    });
  }
}

rank_simulation::~rank_simulation() {
  unwind();
}

void rank_simulation::unwind() {
  for (rank_state& each : ranks_) {
    if (each.stack_low == nullptr) continue;
    std::byte* const low = each.stack_low;
    release_context(each);
    unmap_guarded(low, stack_bytes);
    each.stack_low = nullptr;
  }
}

void rank_simulation::run(const std::function<void(int)>& body) {
  body_ = &body;
  adopt_thread_stack(native_);
  begin_absence(native_);
  for (const rank_state& each : ranks_) push({}, step::resume, each.number);
  while (!events_.empty() && failure_ == nullptr) {
    const event next = events_.top();
    events_.pop();
    handle(next);
  }
  const auto stuck = std::count_if(ranks_.begin(), ranks_.end(),
                                   [](const rank_state& each) { return !each.finished; });
  unwinds_ = true;
  for (rank_state& each : ranks_) {
    if (each.finished) continue;
    running_ = each.number;
    switch_stacks(native_, each);
  }
  end_absence(native_);
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  if (stuck != 0) {
    throw error(EDEADLK, std::to_string(stuck) + " of " + std::to_string(size()) +
                             " simulated ranks wait for messages that nobody sends");
  }
  for (const rank_state& each : ranks_) end_ = std::max(end_, each.clock);
}

void rank_simulation::enter(rank_state& rank) {
  try {
    measured_from_ = process_cpu_time();
    if (!unwinds_) (*body_)(rank.number);
    if (measures_ && !unwinds_) charge_measured();
  } catch (...) {
    if (failure_ == nullptr && !unwinds_) failure_ = std::current_exception();
  }
  rank.finished = true;
  switch_stacks(rank, native_);
}

void rank_simulation::push(exact_time time, step kind, int rank, message* of) {
  events_.push({time, made_++, kind, rank, of});
}

void rank_simulation::in_order() {
  if (events_.empty() || here().clock < events_.top().time) return;
  push(here().clock, step::resume, running_);
  leave();
}

void rank_simulation::leave() {
  switch_stacks(here(), native_);
  if (unwinds_) throw error(ECANCELED, "another rank failed");
}

void rank_simulation::handle(const event& next) {
  switch (next.kind) {
    case step::resume:
      running_ = next.rank;
      here().clock = next.time;
      switch_stacks(native_, here());
      return;
    case step::asks:
      next.of->asked = true;
      if (next.of->receive_begun) push(next.time + latency_, step::leaves, next.rank, next.of);
      return;
    case step::leaves:
      send_now(*next.of, next.time);
      next.of->is_sent = true;
      next.of->sent = ranks_[index(next.of->from)].out_free;
      if (next.of->sender_waits) {
        const rank_state& sender = ranks_[index(next.of->from)];
        push(noticed(sender.clock, next.of->sent, next.of->bytes), step::resume, sender.number);
      }
      return;
    case step::arrives:
      next.of->is_there = true;
      next.of->there = receive_now(next.of->to, next.of->bytes, next.time);
      if (next.of->receiver_waits) {
        const rank_state& receiver = ranks_[index(next.of->to)];
        push(noticed(receiver.clock, next.of->there, next.of->bytes), step::resume,
             receiver.number);
      }
      return;
    case step::posted_arrives:
      rank_state& to = ranks_[index(next.of->to)];
      next.of->there = receive_now(next.of->to, next.of->bytes, next.time);
      to.arrived.push_back(next.of);
      if (std::exchange(to.waits_for_posted, false)) {
        push(noticed(to.clock, next.of->there, next.of->bytes), step::resume, to.number);
      }
      return;
  }
}

exact_time rank_simulation::occupied(std::size_t bytes) const noexcept {
  return std::max(
      gap_, nearest_exact_time(units::seconds{static_cast<double>(bytes) * seconds_per_byte_}));
}

void rank_simulation::send_now(message& of, exact_time at) {
  exact_time& port = ranks_[index(of.from)].out_free;
  const exact_time begin = std::max(at, port);
  port = begin + occupied(of.bytes);
  const step arrival = of.kind != 0 ? step::posted_arrives : step::arrives;
  push(begin + latency_, arrival, of.to, &of);
}

exact_time rank_simulation::receive_now(int rank, std::size_t bytes, exact_time at) {
  exact_time& port = ranks_[index(rank)].in_free;
  const exact_time begin = std::max(at, port);
  port = begin + occupied(bytes);
  // The gap is a limit of the rate, not of the latency.
  return begin + nearest_exact_time(units::seconds{static_cast<double>(bytes) * seconds_per_byte_});
}

exact_time rank_simulation::noticed(exact_time since, exact_time ready, std::size_t bytes) const {
  if (!(since + spin_ < ready)) return std::max(since, ready);
  const auto needed = to_chrono(ready - since);
  const auto longest = mpi_backend::longest_sleep(bytes);
  auto waited = to_chrono(spin_);
  while (waited < needed) waited += mpi_backend::back_off::sleep_after(waited, longest);
  return std::max(ready, since + to_exact(waited));
}

rank_simulation::message& rank_simulation::make() {
  if (unused_.empty()) return pool_.emplace_back();
  message& made = *unused_.back();
  unused_.pop_back();
  std::vector<std::byte> memory = std::move(made.content);
  memory.clear();
  made = {};
  made.content = std::move(memory);
  return made;
}

void rank_simulation::release(message& unused) {
  unused_.push_back(&unused);
}

rank_simulation::message& rank_simulation::match(int from, int to, bool receives) {
  channel& waiting = channels_[index(from) * ranks_.size() + index(to)];
  if (waiting.first != nullptr &&
      (receives ? !waiting.first->receive_begun : !waiting.first->send_begun)) {
    message& found = *waiting.first;
    waiting.first = found.next;
    return found;
  }
  message& made = make();
  made.from = from;
  made.to = to;
  if (waiting.first == nullptr) {
    waiting.first = &made;
  } else {
    waiting.last->next = &made;
  }
  waiting.last = &made;
  return made;
}

void rank_simulation::require_peer(int rank) const {
  if (rank < 0 || rank >= size()) {
    throw usage_error("simulated rank " + std::to_string(rank) + " of " + std::to_string(size()));
  }
}

void rank_simulation::count(int to, std::size_t bytes) {
  ++messages_;
  bytes_ += bytes;
  if (keeps_log_) log_.push_back({running_, to, bytes});
}

rank_simulation::side rank_simulation::begin_send(const std::byte* data, std::size_t bytes,
                                                  int to) {
  require_peer(to);
  const call now(*this);
  here().clock += overhead_;
  in_order();
  count(to, bytes);
  message& of = match(running_, to, false);
  if (of.receive_begun) require_size(bytes, of.bytes);
  of.send_begun = true;
  of.bytes = bytes;
  if (data != nullptr) of.content.assign(data, data + bytes);
  of.is_eager = bytes <= eager_;
  if (of.is_eager) {
    of.sender_done = true;
    send_now(of, here().clock);
    return {nullptr, false};
  }
  push(here().clock + latency_, step::asks, running_, &of);
  return {&of, false};
}

rank_simulation::side rank_simulation::begin_receive(std::byte* data, std::size_t bytes, int from) {
  require_peer(from);
  const call now(*this);
  in_order();
  message& of = match(from, running_, true);
  of.receive_begun = true;
  of.target = data;
  if (of.send_begun) require_size(of.bytes, bytes);
  of.bytes = bytes;
  if (of.asked) push(here().clock + latency_, step::leaves, from, &of);
  return {&of, true};
}

void rank_simulation::wait(side& begun) {
  if (begun.of == nullptr) return;
  const call now(*this);
  complete_now(begun);
}

void rank_simulation::complete_now(side& begun) {
  message& of = *std::exchange(begun.of, nullptr);
  if (begun.receives) {
    if (of.is_there) {
      here().clock = noticed(here().clock, of.there, of.bytes);
    } else {
      of.receiver_waits = true;
      leave();
    }
    return finish_receive(of);
  }
  if (of.is_sent) {
    here().clock = noticed(here().clock, of.sent, of.bytes);
  } else {
    of.sender_waits = true;
    leave();
  }
  of.sender_done = true;
  if (of.receiver_done) release(of);
}

bool rank_simulation::test(side& begun) {
  if (begun.of == nullptr) return true;
  const call now(*this);
  in_order();
  const message& of = *begun.of;
  const bool complete = begun.receives ? of.is_there && !(here().clock < of.there)
                                       : of.is_sent && !(here().clock < of.sent);
  if (complete) complete_now(begun);
  return complete;
}

void rank_simulation::finish_receive(message& of) {
  here().clock += overhead_;
  if (of.target != nullptr && !of.content.empty()) {
    std::memcpy(of.target, of.content.data(), of.content.size());
  }
  of.receiver_done = true;
  if (of.sender_done) release(of);
}

void rank_simulation::post(int to, int kind, std::vector<std::byte> content) {
  require_peer(to);
  const call now(*this);
  here().clock += overhead_;
  in_order();
  count(to, content.size());
  message& of = make();
  of.from = running_;
  of.to = to;
  of.kind = kind;
  of.bytes = content.size();
  of.content = std::move(content);
  send_now(of, here().clock);
}

bool rank_simulation::has_message() {
  const call now(*this);
  in_order();
  return !here().arrived.empty() && !(here().clock < here().arrived.front()->there);
}

posted_message rank_simulation::take() {
  const call now(*this);
  in_order();
  if (here().arrived.empty()) {
    here().waits_for_posted = true;
    leave();
  }
  message& of = *here().arrived.front();
  here().arrived.pop_front();
  here().clock = noticed(here().clock, of.there, of.bytes) + overhead_;
  posted_message taken{of.from, of.kind, std::move(of.content)};
  release(of);
  return taken;
}

}  // namespace creek::tool::machines

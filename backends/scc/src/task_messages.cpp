// SPDX-License-Identifier: Apache-2.0
// Messages between simulated workers: opened with the first one, sent and polled by the protocol
// that the options name, handled between tasks.
#include "task_messages.hpp"

#include <array>
#include <cstring>
#include <numeric>
#include <string>

#include <creek/core/error.hpp>
#include <creek/core/flagged_slot.hpp>
#include <creek/core/linked_messages.hpp>
#include <creek/core/notification_vector.hpp>
#include <creek/core/synchronized_ring.hpp>
#include <creek/tasking/detail/remote_cell.hpp>

#include "task_runtime.hpp"

namespace creek::scc_backend {

using detail::kept_message;

namespace {

/// Cycles between two tries to send without room. An estimate: about an access to memory far away.
constexpr cycles between_tries{64};

template <class Protocol>
class end_of final : public message_end {
 public:
  end_of(task_memory& memory, team members, std::size_t place)
      : protocol_(memory, std::move(members), place) {}
  bool try_send(int to, const void* message, std::size_t bytes) override {
    return protocol_.try_send(to, message, bytes);
  }
  std::size_t poll(handler handle, void* argument) override {
    return protocol_.poll(
        [=](int, std::byte* message, std::size_t bytes) { handle(argument, message, bytes); });
  }
  const active_message_counts& counts() const noexcept override { return protocol_.counts(); }

 private:
  Protocol protocol_;
};

/// Calls `use` with the protocol's type as a template argument.
template <class Use>
auto with_protocol(message_protocol chosen, Use use) {
  switch (chosen) {
    case message_protocol::notification_vector:
      return use.template operator()<notification_vector<task_memory>>();
    case message_protocol::flagged_slot:
      return use.template operator()<flagged_slot<task_memory>>();
    case message_protocol::linked_messages:
      return use.template operator()<linked_messages<task_memory>>();
    case message_protocol::synchronized_ring:
      break;
  }
  return use.template operator()<synchronized_ring<task_memory>>();
}

team first_cores(int members, core_id self) {
  std::vector<core_id> cores;
  for (int i = 0; i < members; ++i) cores.push_back(core_id{i});
  return team(std::move(cores), self);
}

void tell_here(std::byte* message) noexcept {
  detail::reply& to = *detail::head_of(message).outcome;
  to.tell(to);
}

}  // namespace

std::size_t message_bytes_needed(message_protocol protocol, int members) noexcept {
  return with_protocol(protocol, [=]<class Protocol>() { return Protocol::bytes_needed(members); });
}

std::unique_ptr<message_end> make_message_end(message_protocol protocol, task_memory& memory,
                                              int members, std::size_t place) {
  return with_protocol(protocol, [&]<class Protocol>() -> std::unique_ptr<message_end> {
    return std::make_unique<end_of<Protocol>>(memory, first_cores(members, memory.self()), place);
  });
}

/// Takes memory for the protocol at one place in all cores' memory and clears it; called by the
/// core that sends first. The simulation knows what the others would learn by a flag.
void task_runtime::open_board(task_worker& worker) {
  if (board_) return;
  const auto members = static_cast<int>(workers_.size());
  const std::size_t bytes = message_bytes_needed(chosen_.options.messages, members);
  auto made = std::make_unique<message_board>();
  // The board lies at the end; the pools, which hand out the first free lines, come there last.
  const std::size_t lines = worker.memory.mpm_bytes() / memory::line_bytes;
  const std::size_t needed = (bytes + memory::line_bytes - 1) / memory::line_bytes;
  const std::size_t place = lines < needed ? 0 : (lines - needed) * memory::line_bytes;
  for (const auto& each : workers_) {
    std::optional<mpm_block> block = each->pool->take_at(place, bytes);
    if (!block) {
      throw usage_error("simulated chip: no room for messages (" + std::to_string(bytes) +
                        " bytes in the message-passing memory of each core); make the first object "
                        "before tasks fill it, or choose another protocol or a smaller deque");
    }
    made->lines.emplace_back(each->pool, each->core, std::move(*block));
    made->ends.push_back(make_message_end(chosen_.options.messages, each->memory, members, place));
  }
  board_ = std::move(made);
  const std::vector<std::byte> zeros(bytes);
  for (const auto& each : workers_) {
    worker.memory.write(worker.memory.at(each->core, place), zeros.data(), bytes);
  }
  worker.memory.flush();
  for (const auto& each : workers_) worker.memory.signal(each->event, 1);
  board_is_clear_ = true;
}

void task_runtime::prepare() {
  const core_operation begun(chip_);
  open_board(workers_.here());
}

/// Lets the core handle the messages that have piled up, if a strand sends without waiting.
void task_runtime::yield() noexcept {
  constexpr std::size_t piled_up = 16;
  if (outside_.closed_by() || workers_.here().kept.size() < piled_up) return;
  suspend(
      [](void*, detail::strand* left) {
        left->home->resume(left);
        return true;
      },
      nullptr);
}

/// Called before a core uses the protocol: the memory that it uses was cleared before.
void task_runtime::learn_of_board(task_worker& worker) {
  if (!std::exchange(worker.knows_board, true)) (void)worker.memory.load(worker.event);
}

void task_runtime::send(unsigned to, const void* message, std::size_t bytes) {
  const auto* data = static_cast<const std::byte*>(message);
  if (!workers_.are_driven_here()) {
    outside_.hand_in(to, std::make_unique<kept_message>(data, bytes));
    return;
  }
  const core_operation begun(chip_);
  if (outside_.closed_by()) [[unlikely]]  // the simulation stands for ever
    return;
  task_worker& worker = workers_.here();
  open_board(worker);
  while (!board_is_clear_) worker.memory.pause(between_tries);
  learn_of_board(worker);
  ++pending_.active;
  task_worker& receiver = workers_[to];
  ++receiver.letters;
  worker.counters.add(counter::messages);
  worker.counters.add(counter::bytes, bytes);
  message_end& end = *board_->ends[worker.core.index()];
  const auto keep = [](void* self, std::byte* came, std::size_t length) {
    static_cast<task_worker*>(self)->kept.push(new kept_message(came, length));
  };
  if (&receiver == &worker && !traits().messages_are_causal) {
    // Puts it behind all that was sent before the messages that this core has seen of others.
    end.poll(keep, &worker);
    worker.kept.push(new kept_message(data, bytes));
    return;
  }
  while (!end.try_send(receiver.core.value, message, bytes)) {
    if (end.poll(keep, &worker) == 0) worker.memory.pause(between_tries);
  }
  idle_.wake(receiver);
}

/// Handles the messages that have arrived; returns false if there were none. In a worker's loop.
bool task_runtime::serve(task_worker& worker) {
  if (!board_ || !board_is_clear_) return false;
  learn_of_board(worker);
  bool any = false;
  // Leaves out messages that come meanwhile: endless senders must not keep this core from others.
  for (std::size_t left = worker.kept.size(); left > 0; --left) {
    const std::unique_ptr<kept_message> first(worker.kept.pop());
    if (!first) break;  // a handler has waited, and the core has handled the rest
    handle(worker, first->data, first->bytes);
    any = true;
  }
  const auto take = [](void* self, std::byte* came, std::size_t length) {
    auto& here = *static_cast<task_worker*>(self);
    if (here.kept.empty()) {
      here.home.handle(here, came, length);
    } else {  // older ones first
      here.kept.push(new kept_message(came, length));
    }
  };
  return board_->ends[worker.core.index()]->poll(take, &worker) > 0 || any;
}

void task_runtime::handle(task_worker& worker, std::byte* message, std::size_t bytes) {
  --worker.letters;
  worker.rest = {};
  worker.attempt = 0;
  log_.note(worker, step::run);
  policy_.about_to_run(worker, "messages");
  detail::task_scope scope;
  detail::set_foreign_scope(this, &scope);
  const energy_account before = chip_.switch_account(account_of_tasks);
  chip_.begin_span("message", trace::no_argument);
  chip_.start_computing();
  detail::arrive(*this, message, bytes);
  chip_.stop_computing();
  chip_.end_span();
  chip_.switch_account(before);
  detail::set_foreign_scope(nullptr, nullptr);
  --pending_.active;
  log_.ended(worker);
}

/// Sends a result back as a message: its first bytes in the message, the rest by way of memory.
void task_runtime::answer(detail::reply& to, detail::tell_function tell,
                          std::size_t bytes) noexcept {
  const bool here_too =
      !workers_.are_driven_here() || to.asked_by < 0 || to.asked_by == worker_index();
  if (here_too) {
    books_.about_to_publish();
    tell(to);
    return;
  }
  std::array<std::byte, active_message_bytes> message{};
  const detail::message_head head{&tell_here, nullptr, &to};
  std::memcpy(message.data(), &head, sizeof head);
  const std::size_t in_message = std::min(bytes, message.size() - sizeof head);
  if (in_message < bytes) {
    const core_operation begun(chip_);
    charge(work::byte_copied, static_cast<std::int64_t>(2 * (bytes - in_message)));
  }
  send(static_cast<unsigned>(to.asked_by), message.data(), sizeof head + in_message);
}

}  // namespace creek::scc_backend

// SPDX-License-Identifier: Apache-2.0
// Messages between simulated workers: sent and polled by the protocol, handled between tasks.
#include "core_messages.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include <creek/core/error.hpp>

#include "tasks/schedule/work_span.hpp"

namespace creek::scc_backend {

using ext::kept_message;

namespace {

/// Cycles between two tries to send without room. An estimate: about an access to memory far away.
constexpr cycles between_tries{64};

void tell_here(std::byte* message) noexcept {
  ext::reply& to = *ext::head_of(message).outcome;
  to.tell(to);
}

}  // namespace

/// Takes memory for the protocol at one place in all cores' memory and clears it; called by the
/// core that sends first. The simulation knows what the others would learn by a flag.
void core_messages::open_board(task_worker& worker) {
  if (board_) return;
  const std::size_t bytes = message_bytes_needed(layout_);
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
    made->ends.push_back(make_message_end(layout_, each->memory, place));
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

void core_messages::prepare() {
  const core_operation begun(workers_.chip());
  open_board(workers_.here());
}

void core_messages::yield() noexcept {
  constexpr std::size_t piled_up = 16;
  if (outside_.closed_by() || workers_.here().kept.size() < piled_up) return;
  home_.suspend(
      [](void*, ext::strand* left) {
        left->home->resume(left);
        return true;
      },
      nullptr, "its turn behind messages");
}

/// Called before a core uses the protocol: the memory that it uses was cleared before.
void core_messages::learn_of_board(task_worker& worker) {
  if (!std::exchange(worker.knows_board, true)) (void)worker.memory.load(worker.event);
}

void core_messages::send(unsigned to, const void* message, std::size_t bytes) {
  const auto* data = static_cast<const std::byte*>(message);
  if (!workers_.are_driven_here()) {
    outside_.hand_in(to, std::make_unique<kept_message>(data, bytes));
    return;
  }
  const core_operation begun(workers_.chip());
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
  if (&receiver == &worker && !home_.traits().messages_are_causal) {
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

bool core_messages::serve(task_worker& worker) {
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
  struct receiver {
    core_messages& self;
    task_worker& worker;
  } here{*this, worker};
  const auto take = [](void* receiving, std::byte* came, std::size_t length) {
    auto& [self, at] = *static_cast<receiver*>(receiving);
    if (at.kept.empty()) {
      self.handle(at, came, length);
    } else {  // older ones first
      at.kept.push(new kept_message(came, length));
    }
  };
  return board_->ends[worker.core.index()]->poll(take, &here) > 0 || any;
}

void core_messages::handle(task_worker& worker, std::byte* message, std::size_t bytes) {
  --worker.letters;
  {
    machine& chip = workers_.chip();
    const work_span span(home_, chip, log_, idle_.policy(), worker, "message", "messages");
    chip.computing().start();
    ext::arrive(home_, message, bytes);
    chip.computing().stop();
  }
  --pending_.active;
}

/// Sends a result back as a message: its first bytes in the message, the rest by way of memory.
void core_messages::answer(ext::reply& to, ext::tell_function tell, std::size_t bytes) noexcept {
  const bool here_too =
      !workers_.are_driven_here() || to.asked_by < 0 || to.asked_by == home_.worker_index();
  if (here_too) {
    books_.about_to_publish();
    tell(to);
    return;
  }
  std::array<std::byte, active_message_bytes> message{};
  const ext::message_head head{&tell_here, nullptr, &to};
  std::memcpy(message.data(), &head, sizeof head);
  const std::size_t in_message = std::min(bytes, message.size() - sizeof head);
  if (in_message < bytes) {
    const core_operation begun(workers_.chip());
    creek::charge(work::byte_copied, static_cast<std::int64_t>(2 * (bytes - in_message)));
  }
  send(static_cast<unsigned>(to.asked_by), message.data(), sizeof head + in_message);
}

}  // namespace creek::scc_backend

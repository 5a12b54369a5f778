// SPDX-License-Identifier: Apache-2.0
// The protocols of core as ends of one type.
#include "message_board.hpp"

#include <utility>

#include <creek/core/messages/flagged_slot.hpp>
#include <creek/core/messages/linked_messages.hpp>
#include <creek/core/messages/notification_vector.hpp>
#include <creek/core/messages/pair_ring.hpp>
#include <creek/core/messages/synchronized_ring.hpp>

namespace creek::scc_backend {

namespace {

team first_cores(int members, core_id self) {
  std::vector<core_id> cores;
  for (int i = 0; i < members; ++i) cores.push_back(core_id{i});
  return team(std::move(cores), self);
}

template <class Protocol>
class end_of final : public message_end {
 public:
  end_of(task_memory& memory, const message_layout& layout, std::size_t place)
      : protocol_(make_in_room<Protocol>(memory, first_cores(layout.members, memory.self()), place,
                                         layout.room)) {}
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
    case message_protocol::pair_ring:
      return use.template operator()<pair_ring<task_memory>>();
    case message_protocol::synchronized_ring:
      break;
  }
  return use.template operator()<synchronized_ring<task_memory>>();
}

}  // namespace

std::size_t message_bytes_needed(const message_layout& layout) noexcept {
  return with_protocol(layout.protocol, [&]<class Protocol>() {
    return bytes_in_room<Protocol>(layout.members, layout.room);
  });
}

std::unique_ptr<message_end> make_message_end(const message_layout& layout, task_memory& memory,
                                              std::size_t place) {
  return with_protocol(layout.protocol, [&]<class Protocol>() -> std::unique_ptr<message_end> {
    return std::make_unique<end_of<Protocol>>(memory, layout, place);
  });
}

}  // namespace creek::scc_backend

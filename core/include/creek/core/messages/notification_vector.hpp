// SPDX-License-Identifier: Apache-2.0
// Active messages by notification vector (NVP): each receiver keeps a slot for every sender, and a
// vector with a byte per sender that says how long the message in its slot is; each sender keeps a
// vector with a byte per receiver that says whether it has taken the last message.
// Source: [Rotta 2012].
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <creek/core/messages/active_message.hpp>
#include <creek/core/protocols/team.hpp>

namespace creek {

/// Has one message under way from each core to each other. A poll reads one byte per member.
template <memory_policy Memory>
class notification_vector {
 public:
  static constexpr bool room_is_signalled = true;

  static constexpr std::size_t bytes_needed(int members) noexcept {
    return 2 * vector_bytes(members) + static_cast<std::size_t>(members) * slot_bytes;
  }

  notification_vector(Memory& memory, team members, std::size_t place)
      : memory_{&memory},
        members_{std::move(members)},
        notes_{place},
        taken_{place + vector_bytes(members_.size())},
        slots_{place + 2 * vector_bytes(members_.size())},
        under_way_(static_cast<std::size_t>(members_.size())),
        seen_(static_cast<std::size_t>(members_.size())) {}

  [[nodiscard]] bool has_room(int to) {
    return !under_way_[static_cast<std::size_t>(to)] ||
           memory_->load(taken(members_.rank(), to)) != 0;
  }

  [[nodiscard]] bool try_send(int to, const void* data, std::size_t bytes) {
    detail::require_message(to, members_.size(), bytes);
    if (!has_room(to)) {
      ++counts_.full;
      return false;
    }
    if (under_way_[static_cast<std::size_t>(to)]) memory_->store(taken(members_.rank(), to), 0);
    under_way_[static_cast<std::size_t>(to)] = true;
    if (bytes > 0) memory_->write(slot(to, members_.rank()), data, bytes);
    memory_->flush();
    memory_->signal(note(to, members_.rank()), static_cast<std::uint8_t>(bytes + 1));
    ++counts_.sent;
    return true;
  }

  [[nodiscard]] bool has_message() {
    look();
    for (const std::uint8_t each : seen_) {
      if (each != 0) return true;
    }
    return false;
  }

  template <class Handler>
  std::size_t poll(Handler&& handle) {
    ++counts_.polls;
    look();
    std::size_t handled = 0;
    for (int from = 0; from < members_.size(); ++from) {
      const std::uint8_t length = seen_[static_cast<std::size_t>(from)];
      if (length == 0) continue;
      std::array<std::byte, active_message_bytes> message;
      const std::size_t bytes = length - std::size_t{1};
      if (bytes > 0) memory_->read(message.data(), slot(members_.rank(), from), bytes);
      seen_[static_cast<std::size_t>(from)] = 0;
      memory_->store(note(members_.rank(), from), 0);
      memory_->signal(taken(from, members_.rank()), 1);
      ++counts_.received;
      ++handled;
      // The handler may poll; the notes that this leaves in `seen_` are newer than those before it.
      handle(from, message.data(), bytes);
    }
    if (handled == 0) ++counts_.empty_polls;
    return handled;
  }

  [[nodiscard]] const active_message_counts& counts() const noexcept { return counts_; }
  [[nodiscard]] Memory& memory() const noexcept { return *memory_; }

 private:
  static constexpr std::size_t slot_bytes = whole_lines<Memory>(active_message_bytes);

  static constexpr std::size_t vector_bytes(int members) noexcept {
    return whole_lines<Memory>(static_cast<std::size_t>(members));
  }

  /// Reads this core's vector. Also makes sure that the next read of a slot is not of an old copy.
  void look() {
    memory_->load_row(seen_.data(), note(members_.rank(), 0), seen_.size());
    memory_->charge(work::flags_tested, static_cast<std::int64_t>(seen_.size() + 3) / 4);
  }

  [[nodiscard]] mpm_ptr<std::uint8_t> note(int receiver, int sender) const {
    return memory_->at(members_.core(receiver), notes_ + static_cast<std::size_t>(sender))
        .template as<std::uint8_t>();
  }
  [[nodiscard]] mpm_ptr<std::uint8_t> taken(int sender, int receiver) const {
    return memory_->at(members_.core(sender), taken_ + static_cast<std::size_t>(receiver))
        .template as<std::uint8_t>();
  }
  [[nodiscard]] mpm_ptr<std::byte> slot(int receiver, int sender) const {
    return memory_->at(members_.core(receiver),
                       slots_ + static_cast<std::size_t>(sender) * slot_bytes);
  }

  Memory* memory_;
  team members_;
  std::size_t notes_, taken_, slots_;
  std::vector<bool> under_way_;     ///< a message to that rank was sent and not seen to be taken
  std::vector<std::uint8_t> seen_;  ///< this core's vector, less what has been taken since
  active_message_counts counts_;
};

}  // namespace creek

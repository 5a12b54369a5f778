// SPDX-License-Identifier: Apache-2.0
#include "object_table.hpp"

#include <fmt/format.h>

#include <utility>

#include <creek/core/error.hpp>

namespace creek::detail {
namespace {

constexpr std::uint64_t number_of(std::size_t slot, std::uint32_t version) noexcept {
  return std::uint64_t{version} << 32 | (slot + 1);
}

}  // namespace

std::uint64_t object_table::add(const new_object& added, std::unique_ptr<call_port> port) {
  if (free_.empty()) {
    free_.push_back(slots_.size());
    slots_.emplace_back();
  }
  const std::size_t at = free_.back();
  free_.pop_back();
  slots_[at] = {.held = added, .port = std::move(port), .version = slots_[at].version};
  return number_of(at, slots_[at].version);
}

std::size_t object_table::slot_of(std::uint64_t number) const {
  const std::size_t at = (number & 0xffff'ffff) - 1;  // 0 becomes a slot that does not exist
  if (at >= slots_.size() || slots_[at].held.object == nullptr || slots_[at].is_removed ||
      number_of(at, slots_[at].version) != number) {
    throw usage_error("a call of an object that was destroyed");
  }
  return at;
}

void object_table::remove(std::uint64_t number) {
  const std::size_t at = slot_of(number);
  slots_[at].is_removed = true;
  if (slots_[at].calls == 0) take_from(at).destroy_now();
}

object_table::removed_object object_table::take(std::uint64_t number) {
  return take_from(slot_of(number));
}

object_table::removed_object object_table::take_from(std::size_t at) noexcept {
  slot old = std::exchange(slots_[at], {});
  slots_[at].version = old.version + 1;
  free_.push_back(at);
  return {old.held, std::move(old.port)};
}

std::vector<object_table::removed_object> object_table::take_all_with_ports() {
  std::vector<removed_object> taken;
  for (std::size_t at = 0; at < slots_.size(); ++at) {
    if (slots_[at].port) taken.push_back(take_from(at));
  }
  return taken;
}

void object_table::clear() noexcept {
  for (std::size_t at = 0; at < slots_.size(); ++at) {
    if (slots_[at].held.object != nullptr) take_from(at).destroy_now();
  }
}

object_table::use::use(object_table& table, std::uint64_t number, const std::type_info& type)
    : table_(table), slot_(table.slot_of(number)), object_(table.slots_[slot_].held.object) {
  slot& used = table.slots_[slot_];
  if (*used.held.type != type) {
    throw usage_error(fmt::format("a call of an object of type {} as one of type {}",
                                  used.held.type->name(), type.name()));
  }
  ++used.calls;
}

object_table::use::~use() {
  slot& used = table_.slots_[slot_];
  if (--used.calls == 0 && used.is_removed) table_.take_from(slot_).destroy_now();
}

}  // namespace creek::detail

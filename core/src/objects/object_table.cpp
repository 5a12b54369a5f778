// SPDX-License-Identifier: Apache-2.0
#include "object_table.hpp"

#include <fmt/format.h>

#include <creek/core/error.hpp>

namespace creek::detail {
namespace {

constexpr std::uint64_t number_of(std::size_t slot, std::uint32_t version) noexcept {
  return std::uint64_t{version} << 32 | (slot + 1);
}

}  // namespace

std::uint64_t object_table::add(void* object, const std::type_info& type, destroy_function end) {
  if (free_.empty()) {
    free_.push_back(slots_.size());
    slots_.emplace_back();
  }
  const std::size_t at = free_.back();
  free_.pop_back();
  slots_[at] = {.object = object, .type = &type, .destroy = end, .version = slots_[at].version};
  return number_of(at, slots_[at].version);
}

std::size_t object_table::slot_of(std::uint64_t number) const {
  const std::size_t at = (number & 0xffff'ffff) - 1;  // 0 becomes a slot that does not exist
  if (at >= slots_.size() || slots_[at].object == nullptr || slots_[at].is_removed ||
      number_of(at, slots_[at].version) != number) {
    throw usage_error("a call of an object that was destroyed");
  }
  return at;
}

void object_table::remove(std::uint64_t number) {
  const std::size_t at = slot_of(number);
  slots_[at].is_removed = true;
  if (slots_[at].calls == 0) destroy(at);
}

void object_table::destroy(std::size_t at) noexcept {
  const slot old = slots_[at];
  slots_[at] = {.version = old.version + 1};
  free_.push_back(at);
  old.destroy(old.object);
}

void object_table::clear() noexcept {
  for (std::size_t at = 0; at < slots_.size(); ++at) {
    if (slots_[at].object != nullptr) destroy(at);
  }
}

object_table::use::use(object_table& table, std::uint64_t number, const std::type_info& type)
    : table_(table), slot_(table.slot_of(number)), object_(table.slots_[slot_].object) {
  slot& used = table.slots_[slot_];
  if (*used.type != type) {
    throw usage_error(fmt::format("a call of an object of type {} as one of type {}",
                                  used.type->name(), type.name()));
  }
  ++used.calls;
}

object_table::use::~use() {
  slot& used = table_.slots_[slot_];
  if (--used.calls == 0 && used.is_removed) table_.destroy(slot_);
}

}  // namespace creek::detail

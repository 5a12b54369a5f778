// SPDX-License-Identifier: Apache-2.0
// The walk itself: the unwinder that exceptions use, which needs no frame pointers.
#include "call_sites.hpp"

#include <unwind.h>

#include <algorithm>

namespace creek::scc_backend {

namespace {

struct walk_state {
  std::uintptr_t first;  ///< the return address to begin with
  std::size_t most;
  std::vector<std::uintptr_t> addresses;
  std::vector<const std::uintptr_t*> slots;
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
  auto& state = *static_cast<walk_state*>(argument);
  const auto address = static_cast<std::uintptr_t>(_Unwind_GetIP(context));
  if (address == 0) return _URC_END_OF_STACK;
  if (state.addresses.empty() && address != state.first) return _URC_NO_REASON;
  state.addresses.push_back(address);
  // The stack pointer when this frame called the one below. The return address is just
  // under it, on x86-64.
  state.slots.push_back(reinterpret_cast<const std::uintptr_t*>(_Unwind_GetCFA(context)) - 1);
  return state.addresses.size() == state.most ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

site_id call_sites::above(const void* return_address, const void* frame) {
  const frame_key key{reinterpret_cast<std::uintptr_t>(return_address),
                      reinterpret_cast<std::uintptr_t>(frame)};
  std::vector<walk>& known = walks_[key];
  for (const walk& before : known) {
    if (still_there(before)) return before.site;
  }
  walk_state state{key.address, deepest, {}, {}};
  _Unwind_Backtrace(&visit, &state);
  if (state.addresses.empty()) state.addresses.push_back(key.address);
  const site_id site = number_of(state.addresses);
  // Nothing is kept if return addresses lie elsewhere (another processor).
  const bool found_all = std::ranges::equal(
      state.slots, state.addresses,
      [](const std::uintptr_t* slot, std::uintptr_t address) { return *slot == address; });
  if (found_all && !state.slots.empty()) {
    if (known.size() == max_known) known.erase(known.begin());
    known.push_back({site, std::move(state.slots)});
  }
  return site;
}

std::span<const std::uintptr_t> call_sites::addresses(site_id site) const {
  return std::span{addresses_}.subspan(stacks_[site].begin, stacks_[site].count);
}

bool call_sites::still_there(const walk& known) const {
  const auto kept = addresses(known.site);
  for (std::size_t i = 0; i < known.slots.size(); ++i) {
    if (*known.slots[i] != kept[i]) return false;
  }
  return true;
}

site_id call_sites::number_of(std::span<const std::uintptr_t> found) {
  std::size_t hash = found.size();
  for (const std::uintptr_t address : found) hash = (hash ^ address) * 0x9E3779B97F4A7C15u;
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto i = first; i != last; ++i) {
    if (std::ranges::equal(addresses(i->second), found)) return i->second;
  }
  const auto id = static_cast<site_id>(stacks_.size());
  stacks_.push_back(
      {static_cast<std::uint32_t>(addresses_.size()), static_cast<std::uint32_t>(found.size())});
  addresses_.insert(addresses_.end(), found.begin(), found.end());
  by_hash_.emplace(hash, id);
  return id;
}

}  // namespace creek::scc_backend

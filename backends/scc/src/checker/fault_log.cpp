// SPDX-License-Identifier: Apache-2.0
// Keeping faults once each, and looking their places in the program up.
#include "fault_log.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "call_stacks/symbols.hpp"

namespace creek::scc_backend {

namespace {

// Calls that every stack has: into the memory policy, and up to where a simulated core begins.
constexpr std::array inside{"/creek/scc/memory.hpp:",
                            "scc/src/memory/memory.cpp:",
                            "scc/src/memory/private_memory.cpp:",
                            "scc/src/memory/shared_memory.cpp:",
                            "scc/src/checker/allocated_blocks.cpp:",
                            "core/messages/symmetric_allocator.hpp:"};
constexpr std::array beyond{"scc/src/spmd.cpp:",
                            "scc/src/simulation/engine.cpp:",
                            "core/src/threads/stack_switch.",
                            "creek::scc_backend::engine::",
                            "creek::scc_backend::run_cores",
                            "/creek/scc/spmd.hpp:"};
constexpr std::array plumbing{"/bits/std_function.h:", "/bits/invoke.h:", "std::_Function_handler"};

template <std::size_t n>
bool mentions(const std::string& call, const std::array<const char*, n>& parts) {
  return std::ranges::any_of(parts, [&](const char* part) { return call.find(part) != call.npos; });
}

}  // namespace

void fault_log::add(fault_kind kind, std::uint32_t line, byte_mask bytes,
                    const described_access& found, const described_access& other) {
  if (points_.aborted()) return;
  const call_sites& sites = points_.sites();
  const finding_key key{kind, sites.innermost(found.access.site),
                        sites.innermost(other.access.site)};
  const auto [known, is_new] = known_.try_emplace(key, findings_.size());
  if (!is_new) {
    ++findings_[known->second].count;
    return;
  }
  const std::size_t at =
      std::size_t{line} * line_size + static_cast<std::size_t>(std::countr_zero(bytes));
  findings_.push_back({kind, found, other, at, std::popcount(bytes),
                       blocks_.describe(at, core_id{found.access.core}), 1});
}

std::vector<std::string> fault_log::calls_of(site_id site, symbols& names) const {
  constexpr std::size_t enough = 8;
  std::vector<std::string> calls;
  for (const std::uintptr_t address : points_.sites().addresses(site)) {
    for (std::string& call : names.describe(address)) {
      if (mentions(call, beyond) || calls.size() == enough) return calls;
      // Without line numbers, inlined calls go by the name of the outermost.
      if (calls.empty() ? mentions(call, inside) : mentions(call, plumbing)) continue;
      calls.push_back(std::move(call));
    }
  }
  return calls;
}

fault_access fault_log::side(const described_access& of, symbols& names) const {
  return {core_id{of.access.core}, of.access.at, of.did, calls_of(of.access.site, names)};
}

fault fault_log::described(const finding& of, symbols& names) const {
  fault result;
  result.kind = of.kind;
  result.found = side(of.found, names);
  if (of.other.access.bytes != 0) result.other = side(of.other, names);
  if (map_.is_on_chip(of.at)) result.owner = map_.owner(of.at);
  result.offset = map_.offset(of.at);
  result.bytes = static_cast<std::size_t>(of.bytes);
  result.allocation = of.allocation;
  result.count = of.count;
  return result;
}

std::vector<fault> fault_log::faults() const {
  std::vector<fault> all;
  if (findings_.empty()) return all;
  symbols names;
  for (const finding& one : findings_) {
    fault f = described(one, names);
    // The same place in several copies of a program: each core may have its own.
    const auto same = std::ranges::find_if(all, [&](const fault& other) {
      return other.kind == f.kind && other.found.calls == f.found.calls &&
             other.other.has_value() == f.other.has_value() &&
             (!f.other || other.other->calls == f.other->calls);
    });
    if (same != all.end() && !f.found.calls.empty()) {
      same->count += f.count;
    } else {
      all.push_back(std::move(f));
    }
  }
  return all;
}

}  // namespace creek::scc_backend

// SPDX-License-Identifier: Apache-2.0
// Text of the findings, for people.
#include <algorithm>
#include <array>
#include <cstdio>
#include <ostream>

#include "checker.hpp"
#include "symbols.hpp"

namespace creek::scc_backend {

namespace {

struct kind_text {
  std::string_view name;
  std::string_view remedy;
};

// In the order of fault_kind.
constexpr std::array<kind_text, 8> kinds{{
    {"missing invalidate", "invalidate() is missing between seeing the announcement and reading"},
    {"missing flush", "flush() is missing between writing the block and announcing it"},
    {"overwritten too early", "the writer must wait for an acknowledgement of the reader"},
    {"unordered writes", "a lock, a flag or a barrier must order the two"},
    {"unordered read", "the reader must wait for an announcement of the writer"},
    {"never written", "no core wrote these bytes before they were read as a block"},
    {"leaked", "others of its name were freed, this one was not"},
    {"used after free", "the core that accesses it had given the block back"},
}};

const kind_text& text_of(fault_kind kind) noexcept {
  return kinds[static_cast<std::size_t>(kind)];
}

std::string nanoseconds(virtual_time at) {
  char text[48];
  std::snprintf(text, sizeof text, "%.3f ns", static_cast<double>(at.femtoseconds) / 1e6);
  return text;
}

// Calls that every stack has: into the memory policy, and up to where a simulated core begins.
constexpr std::array inside{"/creek/scc/memory.hpp:", "scc/src/memory.cpp:", "scc/src/checker.cpp:",
                            "core/messages/symmetric_allocator.hpp:"};
constexpr std::array beyond{"scc/src/spmd.cpp:",
                            "scc/src/engine.cpp:",
                            "core/src/stack_switch.",
                            "creek::scc_backend::engine::",
                            "creek::scc_backend::run_cores",
                            "/creek/scc/spmd.hpp:"};
constexpr std::array plumbing{"/bits/std_function.h:", "/bits/invoke.h:", "std::_Function_handler"};

template <std::size_t n>
bool mentions(const std::string& call, const std::array<const char*, n>& parts) {
  return std::ranges::any_of(parts, [&](const char* part) { return call.find(part) != call.npos; });
}

void print_access(std::ostream& out, const fault_access& access) {
  out << "  core " << access.core.value << " " << access.what << " at " << nanoseconds(access.at)
      << "\n";
  for (const std::string& call : access.calls) out << "    " << call << "\n";
}

}  // namespace

std::string_view name_of(fault_kind kind) noexcept {
  return text_of(kind).name;
}

void print(std::ostream& out, std::span<const fault> faults, std::size_t most) {
  for (const fault& f : faults.first(std::min(most, faults.size()))) {
    out << "coherence check: " << name_of(f.kind) << ": " << f.bytes
        << (f.bytes == 1 ? " byte of " : " bytes of ")
        << (f.owner ? "core " + std::to_string(f.owner->value) : "shared memory") << " + "
        << f.offset;
    if (!f.allocation.empty()) out << " (" << f.allocation << ")";
    if (f.count > 1) out << ", " << f.count << " times";
    out << "\n";
    print_access(out, f.found);
    if (f.other) print_access(out, *f.other);
    out << "  " << text_of(f.kind).remedy << "\n";
  }
  if (faults.empty()) return;
  if (faults.size() > most) out << "coherence check: and " << faults.size() - most << " more\n";
  out << "coherence check: " << faults.size() << (faults.size() == 1 ? " fault\n" : " faults\n");
}

std::vector<std::string> checker::calls_of(site_id site, symbols& names) const {
  constexpr std::size_t enough = 8;
  std::vector<std::string> calls;
  for (const std::uintptr_t address : sites_.addresses(site)) {
    for (std::string& call : names.describe(address)) {
      if (mentions(call, beyond) || calls.size() == enough) return calls;
      // Without line numbers, inlined calls go by the name of the outermost.
      if (calls.empty() ? mentions(call, inside) : mentions(call, plumbing)) continue;
      calls.push_back(std::move(call));
    }
  }
  return calls;
}

fault checker::described(const finding& of, symbols& names) const {
  const auto side = [&](const access_record& access, const char* did) {
    return fault_access{core_id{access.core}, access.at, did, calls_of(access.site, names)};
  };
  fault result;
  result.kind = of.kind;
  result.found = side(of.found, of.found_did);
  if (of.other.bytes != 0) result.other = side(of.other, of.other_did);
  const bool on_chip = of.at < mpb_end_;
  if (on_chip) result.owner = core_id{static_cast<int>(of.at / mpb_bytes_)};
  result.offset = on_chip ? of.at % mpb_bytes_ : of.at - mpb_end_;
  result.bytes = static_cast<std::size_t>(of.bytes);
  result.allocation = of.allocation;
  result.count = of.count;
  return result;
}

std::vector<fault> checker::faults() const {
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

std::vector<fault> found_faults(const checker* check,
                                const std::function<void(const std::vector<fault>&)>& tell) {
  if (check == nullptr) return {};
  std::vector<fault> found = check->faults();
  if (!found.empty() && tell) tell(found);
  return found;
}

}  // namespace creek::scc_backend

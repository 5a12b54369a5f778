// SPDX-License-Identifier: Apache-2.0
// Text of the faults, for people.
#include <algorithm>
#include <array>
#include <cstdio>
#include <ostream>

#include <creek/scc/check.hpp>

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

}  // namespace creek::scc_backend

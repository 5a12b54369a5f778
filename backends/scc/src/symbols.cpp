// SPDX-License-Identifier: Apache-2.0
// By libdw where it was there to build with: line numbers and inlined calls. Else by the dynamic
// linker, which knows modules and exported functions.
#include "symbols.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#ifdef CREEK_WITH_LIBDW
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#endif

namespace creek::scc_backend {

namespace {

std::string base_name(const char* path) {
  const std::string_view whole = path == nullptr || *path == '\0' ? "?" : path;
  return std::string(whole.substr(whole.rfind('/') + 1));
}

std::string plus_offset(std::string what, std::uintptr_t offset) {
  char text[24];
  std::snprintf(text, sizeof text, "+0x%zx", static_cast<std::size_t>(offset));
  return what + text;
}

/// The demangled name without template arguments and parameters, which fill lines.
std::string readable(const char* mangled) {
  int status = 0;
  char* demangled = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string whole = status == 0 ? demangled : mangled;
  std::free(demangled);
  for (const std::string_view noise : {"(anonymous namespace)::", " const", "operator()"}) {
    for (std::size_t at = 0; (at = whole.find(noise, at)) != whole.npos;) {
      whole.replace(at, noise.size(), noise == "operator()" ? "operator" : "");
    }
  }
  std::string name;
  int depth = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const char c = whole[i];
    if (depth == 0 && whole.compare(i, 7, "{lambda") == 0) name += "lambda";
    if (depth == 0 && c == '[') break;  // a clone of it, or what its templates stand for
    if (c == '<' || c == '(' || c == '{') ++depth;
    if (depth == 0) name += c;
    if (c == '>' || c == ')' || c == '}') --depth;
  }
  // A template's name begins with what it returns.
  name = name.substr(0, name.find_last_not_of(' ') + 1);
  return name.substr(name.rfind(' ') + 1);
}

}  // namespace

#ifdef CREEK_WITH_LIBDW

struct symbols::debug_information {
  Dwfl* all = nullptr;
  ~debug_information() {
    if (all != nullptr) dwfl_end(all);
  }
};

namespace {

// Only what the modules themselves carry: a search could go as far as to ask servers.
int find_no_debuginfo(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*,
                      GElf_Word, char**) {
  return -1;
}

const Dwfl_Callbacks of_this_process{dwfl_linux_proc_find_elf, find_no_debuginfo, nullptr, nullptr};

struct source_place {
  std::string file;
  int line = 0;
};

/// Where the inlined function was called.
source_place caller_of(Dwarf_Die& inlined, Dwarf_Die& unit) {
  source_place place;
  Dwarf_Attribute attribute;
  Dwarf_Word number = 0;
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dwarf_formudata(dwarf_attr(&inlined, DW_AT_call_file, &attribute), &number) == 0 &&
      dwarf_getsrcfiles(&unit, &files, &count) == 0 && number < count) {
    const char* file = dwarf_filesrc(files, number, nullptr, nullptr);
    if (file != nullptr) place.file = file;
  }
  if (dwarf_formudata(dwarf_attr(&inlined, DW_AT_call_line, &attribute), &number) == 0) {
    place.line = static_cast<int>(number);
  }
  return place;
}

std::vector<std::string> lines_of(Dwfl_Module* module, Dwarf_Addr address) {
  std::vector<std::string> calls;
  Dwarf_Addr bias = 0;
  Dwarf_Die* unit = dwfl_module_addrdie(module, address, &bias);
  Dwfl_Line* line = dwfl_module_getsrc(module, address);
  if (unit == nullptr || line == nullptr) return calls;
  source_place place;
  if (const char* file = dwfl_lineinfo(line, nullptr, &place.line, nullptr, nullptr, nullptr)) {
    place.file = file;
  }
  Dwarf_Die* innermost = nullptr;
  if (dwarf_getscopes(unit, address - bias, &innermost) <= 0) return calls;
  Dwarf_Die* scopes = nullptr;  // of this very copy of the code, not of what was inlined
  const int count = dwarf_getscopes_die(&innermost[0], &scopes);
  std::free(innermost);
  for (int i = 0; i < count; ++i) {
    const int tag = dwarf_tag(&scopes[i]);
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
    const char* name = dwarf_diename(&scopes[i]);
    calls.push_back(place.file + ":" + std::to_string(place.line) + " " +
                    (name == nullptr ? "?" : name));
    if (tag == DW_TAG_subprogram) break;
    place = caller_of(scopes[i], *unit);
  }
  std::free(scopes);
  return calls;
}

}  // namespace

symbols::symbols() : information_(std::make_unique<debug_information>()) {
  information_->all = dwfl_begin(&of_this_process);
  if (information_->all == nullptr) return;
  dwfl_linux_proc_report(information_->all, getpid());
  dwfl_report_end(information_->all, nullptr, nullptr);
}

std::vector<std::string> symbols::describe(std::uintptr_t return_address) {
  const Dwarf_Addr call = return_address - 1;
  Dwfl_Module* module =
      information_->all == nullptr ? nullptr : dwfl_addrmodule(information_->all, call);
  if (module == nullptr) return {"?"};
  auto calls = lines_of(module, call);
  if (!calls.empty()) return calls;
  Dwarf_Addr start = 0;
  const char* path =
      dwfl_module_info(module, nullptr, &start, nullptr, nullptr, nullptr, nullptr, nullptr);
  GElf_Off offset = 0;
  GElf_Sym symbol;
  const char* name =
      dwfl_module_addrinfo(module, call, &offset, &symbol, nullptr, nullptr, nullptr);
  if (name == nullptr) return {plus_offset(base_name(path), call - start)};
  return {plus_offset(readable(name), offset) + " (" + base_name(path) + ")"};
}

#else

struct symbols::debug_information {};

symbols::symbols() = default;

std::vector<std::string> symbols::describe(std::uintptr_t return_address) {
  Dl_info found{};
  const std::uintptr_t call = return_address - 1;
  if (dladdr(reinterpret_cast<void*>(call), &found) == 0) return {"?"};
  const std::string module = base_name(found.dli_fname);
  if (found.dli_sname == nullptr) {
    return {plus_offset(module, call - reinterpret_cast<std::uintptr_t>(found.dli_fbase))};
  }
  return {plus_offset(readable(found.dli_sname),
                      call - reinterpret_cast<std::uintptr_t>(found.dli_saddr)) +
          " (" + module + ")"};
}

#endif

symbols::~symbols() = default;

}  // namespace creek::scc_backend

// SPDX-License-Identifier: Apache-2.0
#include "debug_lines.hpp"

#ifdef CREEK_WITH_LIBDW

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <unistd.h>

#include <creek/core/shared_library.hpp>
#include <cstdlib>

namespace creek::scc_backend {

namespace {

/// The functions used, under their own names.
struct libdw {
  shared_library file{"libdw.so.1"};
  decltype(&::dwfl_begin) dwfl_begin = file["dwfl_begin"];
  decltype(&::dwfl_end) dwfl_end = file["dwfl_end"];
  decltype(&::dwfl_linux_proc_report) dwfl_linux_proc_report = file["dwfl_linux_proc_report"];
  decltype(&::dwfl_report_end) dwfl_report_end = file["dwfl_report_end"];
  decltype(&::dwfl_addrmodule) dwfl_addrmodule = file["dwfl_addrmodule"];
  decltype(&::dwfl_module_addrdie) dwfl_module_addrdie = file["dwfl_module_addrdie"];
  decltype(&::dwfl_module_getsrc) dwfl_module_getsrc = file["dwfl_module_getsrc"];
  decltype(&::dwfl_lineinfo) dwfl_lineinfo = file["dwfl_lineinfo"];
  decltype(&::dwfl_module_info) dwfl_module_info = file["dwfl_module_info"];
  decltype(&::dwfl_module_addrinfo) dwfl_module_addrinfo = file["dwfl_module_addrinfo"];
  decltype(&::dwfl_linux_proc_find_elf) dwfl_linux_proc_find_elf = file["dwfl_linux_proc_find_elf"];
  decltype(&::dwarf_formudata) dwarf_formudata = file["dwarf_formudata"];
  decltype(&::dwarf_attr) dwarf_attr = file["dwarf_attr"];
  decltype(&::dwarf_getsrcfiles) dwarf_getsrcfiles = file["dwarf_getsrcfiles"];
  decltype(&::dwarf_filesrc) dwarf_filesrc = file["dwarf_filesrc"];
  decltype(&::dwarf_getscopes) dwarf_getscopes = file["dwarf_getscopes"];
  decltype(&::dwarf_getscopes_die) dwarf_getscopes_die = file["dwarf_getscopes_die"];
  decltype(&::dwarf_tag) dwarf_tag = file["dwarf_tag"];
  decltype(&::dwarf_diename) dwarf_diename = file["dwarf_diename"];
};

// Uses only the modules' own debugging information: a search could go as far as to ask servers.
int find_no_debuginfo(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*,
                      GElf_Word, char**) {
  return -1;
}

struct source_place {
  std::string file;
  int line = 0;
};

/// Returns the place where the inlined function was called.
source_place caller_of(const libdw& dw, Dwarf_Die& inlined, Dwarf_Die& unit) {
  source_place place;
  Dwarf_Attribute attribute;
  Dwarf_Word number = 0;
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dw.dwarf_formudata(dw.dwarf_attr(&inlined, DW_AT_call_file, &attribute), &number) == 0 &&
      dw.dwarf_getsrcfiles(&unit, &files, &count) == 0 && number < count) {
    const char* file = dw.dwarf_filesrc(files, number, nullptr, nullptr);
    if (file != nullptr) place.file = file;
  }
  if (dw.dwarf_formudata(dw.dwarf_attr(&inlined, DW_AT_call_line, &attribute), &number) == 0) {
    place.line = static_cast<int>(number);
  }
  return place;
}

std::vector<std::string> lines_of(const libdw& dw, Dwfl_Module* module, Dwarf_Addr address) {
  std::vector<std::string> calls;
  Dwarf_Addr bias = 0;
  Dwarf_Die* unit = dw.dwfl_module_addrdie(module, address, &bias);
  Dwfl_Line* line = dw.dwfl_module_getsrc(module, address);
  if (unit == nullptr || line == nullptr) return calls;
  source_place place;
  if (const char* file = dw.dwfl_lineinfo(line, nullptr, &place.line, nullptr, nullptr, nullptr)) {
    place.file = file;
  }
  Dwarf_Die* innermost = nullptr;
  if (dw.dwarf_getscopes(unit, address - bias, &innermost) <= 0) return calls;
  Dwarf_Die* scopes = nullptr;  // of this very copy of the code, not of the inlined function
  const int count = dw.dwarf_getscopes_die(&innermost[0], &scopes);
  std::free(innermost);
  for (int i = 0; i < count; ++i) {
    const int tag = dw.dwarf_tag(&scopes[i]);
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
    const char* name = dw.dwarf_diename(&scopes[i]);
    calls.push_back(place.file + ":" + std::to_string(place.line) + " " +
                    (name == nullptr ? "?" : name));
    if (tag == DW_TAG_subprogram) break;
    place = caller_of(dw, scopes[i], *unit);
  }
  std::free(scopes);
  return calls;
}

class libdw_lines final : public debug_lines {
 public:
  explicit libdw_lines(const libdw& dw)
      : dw_(dw),
        callbacks_{dw.dwfl_linux_proc_find_elf, find_no_debuginfo, nullptr, nullptr},
        all_(dw.dwfl_begin(&callbacks_)) {
    if (all_ == nullptr) return;
    dw_.dwfl_linux_proc_report(all_, getpid());
    dw_.dwfl_report_end(all_, nullptr, nullptr);
  }
  libdw_lines(const libdw_lines&) = delete;
  libdw_lines& operator=(const libdw_lines&) = delete;
  ~libdw_lines() override {
    if (all_ != nullptr) dw_.dwfl_end(all_);
  }

  code_place find(std::uintptr_t address) override {
    code_place place;
    Dwfl_Module* module = all_ == nullptr ? nullptr : dw_.dwfl_addrmodule(all_, address);
    if (module == nullptr) return place;
    place.calls = lines_of(dw_, module, address);
    Dwarf_Addr start = 0;
    const char* path =
        dw_.dwfl_module_info(module, nullptr, &start, nullptr, nullptr, nullptr, nullptr, nullptr);
    place.module = path == nullptr || *path == '\0' ? "?" : path;
    place.module_offset = address - start;
    GElf_Off offset = 0;
    GElf_Sym symbol;
    const char* name =
        dw_.dwfl_module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr);
    if (name != nullptr) place.function = name;
    place.function_offset = offset;
    return place;
  }

 private:
  const libdw& dw_;
  Dwfl_Callbacks callbacks_;
  Dwfl* all_;
};

}  // namespace

std::unique_ptr<debug_lines> debug_lines::open() {
  static const libdw dw;
  return dw.file.complete() ? std::make_unique<libdw_lines>(dw) : nullptr;
}

}  // namespace creek::scc_backend

#else

std::unique_ptr<creek::scc_backend::debug_lines> creek::scc_backend::debug_lines::open() {
  return nullptr;
}

#endif

// SPDX-License-Identifier: Apache-2.0
// Uses libdw where it is installed: line numbers and inlined calls. Else the dynamic linker, which
// knows modules and exported functions.
#include "symbols.hpp"

#include <cxxabi.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "debug_lines.hpp"

namespace creek::scc_backend {

namespace {

std::string base_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

std::string plus_offset(std::string what, std::uintptr_t offset) {
  char text[24];
  std::snprintf(text, sizeof text, "+0x%zx", static_cast<std::size_t>(offset));
  return what + text;
}

/// Returns the demangled name without template arguments and parameters, which fill lines.
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
    if (depth == 0 && c == '[') break;  // a clone of the function, or its template arguments
    if (c == '<' || c == '(' || c == '{') ++depth;
    if (depth == 0) name += c;
    if (c == '>' || c == ')' || c == '}') --depth;
  }
  // A template's name begins with its return type.
  name = name.substr(0, name.find_last_not_of(' ') + 1);
  return name.substr(name.rfind(' ') + 1);
}

code_place find_by_linker(std::uintptr_t address) {
  code_place place;
  Dl_info found{};
  if (dladdr(reinterpret_cast<void*>(address), &found) == 0) return place;
  place.module = found.dli_fname;
  place.module_offset = address - reinterpret_cast<std::uintptr_t>(found.dli_fbase);
  if (found.dli_sname != nullptr) {
    place.function = found.dli_sname;
    place.function_offset = address - reinterpret_cast<std::uintptr_t>(found.dli_saddr);
  }
  return place;
}

}  // namespace

symbols::symbols() : lines_(debug_lines::open()) {}

symbols::~symbols() = default;

std::vector<std::string> symbols::describe(std::uintptr_t return_address) {
  const std::uintptr_t call = return_address - 1;
  code_place place = lines_ != nullptr ? lines_->find(call) : find_by_linker(call);
  if (!place.calls.empty()) return std::move(place.calls);
  if (place.module.empty()) return {"?"};
  const std::string module = base_name(place.module);
  if (place.function.empty()) return {plus_offset(module, place.module_offset)};
  return {plus_offset(readable(place.function.c_str()), place.function_offset) + " (" + module +
          ")"};
}

}  // namespace creek::scc_backend

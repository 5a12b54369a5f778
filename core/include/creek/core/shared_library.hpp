// SPDX-License-Identifier: Apache-2.0
// Shared library that is loaded when it is first needed: a program of creek starts without it.
#pragma once

#include <dlfcn.h>

#include <creek/core/language.hpp>

namespace creek {

/// Loads a library for good, since its threads and functions may be in use at any time. One thread
/// at a time looks names up with operator[]; any thread may call the other functions.
class shared_library {
 public:
  /// Address of a function of any type, or null.
  struct address {
    void* value;
    template <class Function>
    operator Function*() const noexcept {  // NOLINT: converts to what it initialises
      return reinterpret_cast<Function*>(value);
    }
  };

  explicit shared_library(const char* file) noexcept
      : handle_(dlopen(file, RTLD_NOW | RTLD_LOCAL)), complete_(handle_ != nullptr) {}

  explicit operator bool() const noexcept { return handle_ != nullptr; }

  /// Returns the address of a function or variable; null if there is no such name or no library.
  [[nodiscard]] void* find(const char* name) const noexcept {
    return handle_ == nullptr ? nullptr : dlsym(handle_, name);
  }

  /// Same, for a table of functions: a missing name makes complete() return false.
  [[nodiscard]] address operator[](const char* name) noexcept {
    const address found{find(name)};
    complete_ &= found.value != nullptr;
    return found;
  }

  /// Returns whether the library was loaded and had all names that operator[] looked up.
  [[nodiscard]] bool complete() const noexcept { return complete_; }

 private:
  void* handle_;
  bool complete_;
};

}  // namespace creek

// SPDX-License-Identifier: Apache-2.0
// Finds a backend by its name. Tasking names none: the folder `backends` knows their names, and
// each backend but host is a library of its own, which a program may or may not have.
#pragma once

#include <memory>
#include <string_view>

#include <creek/tasking/ext/backend.hpp>

namespace creek::ext {

/// Entry point of a backend's library.
struct backend_entry {
  std::unique_ptr<backend> (*make)(const scheduler_options& options);
  /// If above 0: `workers` 0 becomes one for each CPU that this process may use, at most this many.
  unsigned max_cpus;
};

/// Returns whether equal programs have equal runs on the backend of this name, as its
/// executor_traits::runs_repeat says; false for an unknown name. Loads no library.
[[nodiscard]] bool runs_repeat_on(std::string_view backend_name) noexcept;

}  // namespace creek::ext

// Defined by the libraries of these backends. They have C names because the linker is told of them
// when it makes a program of static libraries (ENTRY of creek_module()), and dlsym() finds them in
// shared ones.
extern "C" {
extern const creek::ext::backend_entry creek_backend_scc;
extern const creek::ext::backend_entry creek_backend_tbb;
}

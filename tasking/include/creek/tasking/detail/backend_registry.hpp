// SPDX-License-Identifier: Apache-2.0
// The backends of this build. Tasking names none: the folder `backends` defines the table.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include <creek/tasking/runtime.hpp>

namespace creek::detail {

struct backend_entry {
  std::string_view name;
  /// A backend that was not built in throws usage_error that says how to get it.
  std::unique_ptr<backend> (*make)(const scheduler_options& options);
  bool built_in;
};

/// Defined in backends/src/registry.cpp.
std::span<const backend_entry> built_in_backends() noexcept;

}  // namespace creek::detail

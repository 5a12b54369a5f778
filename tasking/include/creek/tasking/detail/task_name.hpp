// SPDX-License-Identifier: Apache-2.0
// A readable name of a task's kind, made at compile time: where its closure was written.
#pragma once

#include <creek/core/language.hpp>

namespace creek::detail {

/// Returns the spelling of the closure's type, e.g. "... [with F = render(scene&)::<lambda()>]".
/// ext::task_site() cuts it to the part behind "F = ".
template <class F>
constexpr const char* task_name() noexcept {
  return __PRETTY_FUNCTION__;
}

}  // namespace creek::detail

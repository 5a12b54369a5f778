// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

namespace creek::stream::detail {

/// Returns what an exception says.
[[nodiscard]] std::string exception_text(const std::exception_ptr& failure);

}  // namespace creek::stream::detail

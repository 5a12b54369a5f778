// SPDX-License-Identifier: Apache-2.0
// Exceptions of calls as bytes, which go to the rank that made the call.
#pragma once

#include <cstddef>
#include <exception>
#include <vector>

#include <creek/core/messages/wire.hpp>

namespace creek::detail {

/// Appends the exception that is being handled.
void put_failure(std::vector<std::byte>& to);

/// Reads it: a usage_error, an error with its code, or a call_error with the text of any other.
[[nodiscard]] std::exception_ptr get_failure(byte_reader& from);

}  // namespace creek::detail

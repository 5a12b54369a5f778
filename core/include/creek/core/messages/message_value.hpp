// SPDX-License-Identifier: Apache-2.0
// Types whose values can be sent by their bytes.
#pragma once

#include <creek/core/language.hpp>
#include <type_traits>

namespace creek {

/// A type whose values may be sent by their bytes.
template <class T>
concept message_value = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>;

}  // namespace creek

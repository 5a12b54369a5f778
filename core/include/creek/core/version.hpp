// SPDX-License-Identifier: Apache-2.0
// The version of the library that is linked (which may be newer than the headers compiled against).
#pragma once

#include <creek/core/language.hpp>

namespace creek {

/// Returns the version, such as "0.1.0".
const char* version() noexcept;

}  // namespace creek

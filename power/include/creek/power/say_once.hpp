// SPDX-License-Identifier: Apache-2.0
// Messages about features that a program has to do without, each written once per process.
#pragma once

#include <string_view>

#include <creek/core/language.hpp>

namespace creek::power {

/// Writes "creek: LINE" to standard error unless this process has written the same line before. For
/// begin() of a policy that continues without a feature it would have used. Any thread.
void say_once(std::string_view line);

}  // namespace creek::power

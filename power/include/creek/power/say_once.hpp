// SPDX-License-Identifier: Apache-2.0
// Telling the user what a program does without, once however often it begins anew.
#pragma once

#include <string_view>

#include <creek/core/language.hpp>

namespace creek::power {

/// Writes "creek: LINE" to standard error unless this process has said the same line before. For
/// begin() of a policy that goes on without something that it would have used. Any thread.
void say_once(std::string_view line);

}  // namespace creek::power

// SPDX-License-Identifier: Apache-2.0
// Messages about features that a program has to do without, each written once per process.
#pragma once

#include <functional>
#include <string_view>

#include <creek/core/language.hpp>

namespace creek::power {

/// Writes "creek: LINE" to standard error unless this process has written the same line before. For
/// begin() of a policy that continues without a feature it would have used. Any thread.
void say_once(std::string_view line);

/// Gives further lines of say_once() to `reader`, without "creek: ", instead of standard error; an
/// empty one: to standard error again. For processes of one run, of which one writes. Calls of
/// `reader` do not overlap, and it must not call say_once().
void say_to(std::function<void(std::string_view)> reader);

}  // namespace creek::power

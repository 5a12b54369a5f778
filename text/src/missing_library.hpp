// SPDX-License-Identifier: Apache-2.0
// The error of functions whose library was not there when creek was built.
#pragma once

#include <creek/core/error.hpp>
#include <string>

namespace creek::text::detail {

/// `what` with a capital letter: the function; `library` and its Debian package.
[[noreturn]] inline void fail_without(const std::string& what, const std::string& library,
                                      const std::string& package) {
  throw usage_error(what + " need " + library + ", without which creek was built: install " +
                    package + " (the name of the Debian package) and build creek again");
}

}  // namespace creek::text::detail

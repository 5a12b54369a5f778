// SPDX-License-Identifier: Apache-2.0
// The kinds of failure that creek reports by exception.
#pragma once

#include <stdexcept>
#include <string>
#include <system_error>

#include <creek/core/language.hpp>

namespace creek {

/// A failure of the world: I/O, permission, a lost peer. `code()` holds the errno where there is
/// one.
class error : public std::system_error {
 public:
  error(int errno_value, const std::string& what)
      : std::system_error(errno_value, std::generic_category(), what) {}
  using std::system_error::system_error;
};

/// A misuse by the program: waiting outside a runtime, an option out of range. Thrown before any
/// work starts; the text says what to do instead.
class usage_error : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// The end of a wait by a stop request, which came before what was waited for.
class cancelled : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace creek

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

#include <creek/core/language.hpp>

namespace creek {

/// An exception of a call on another rank that is neither a usage_error nor an error: its text.
class call_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace creek

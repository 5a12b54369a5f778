// SPDX-License-Identifier: Apache-2.0
// The messages of graphs that are misused.
#pragma once

#include <string>

#include <creek/core/error.hpp>

namespace conformance {

/// Returns the message of the usage_error that f() throws, or "" if it throws none.
template <class F>
std::string misuse_of(F&& f) {
  try {
    f();
  } catch (const creek::usage_error& caught) {
    return caught.what();
  }
  return "";
}

}  // namespace conformance

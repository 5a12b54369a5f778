// SPDX-License-Identifier: Apache-2.0
// Parts of networks that tests need.
#pragma once

#include <numeric>
#include <string>
#include <vector>

#include <creek/stream.hpp>

#include "setups.hpp"

namespace conformance {

using creek::stream::in;
using creek::stream::network;
using creek::stream::out;

inline std::vector<int> numbers(int count) {
  std::vector<int> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

inline auto writes_numbers(int count) {
  return [count](out<int>& to) {
    for (int i = 0; i < count; ++i) to.write(i);
  };
}

inline auto appends_to(std::vector<int>& all) {
  return [&all](in<int>& from) {
    for (const int each : from) all.push_back(each);
  };
}

template <class Error, class F>
std::string text_of(F&& f) {
  try {
    f();
  } catch (const Error& caught) {
    return caught.what();
  }
  return "nothing was thrown";
}

}  // namespace conformance

// SPDX-License-Identifier: Apache-2.0
// The serial peer's stand-ins for entering a runtime and forking.
#pragma once
#include "workload.hpp"

namespace bench {

template <class F>
void inside(const settings&, F&& f) {
  f();
}

inline constexpr auto fork = [](const auto& f, const auto& g) {
  f();
  g();
};

}  // namespace bench

// SPDX-License-Identifier: Apache-2.0
// Shared parts of the conformance tests of channels.
#pragma once

#include <creek/tasking/channel.hpp>

#include "setups.hpp"

namespace conformance {

class ChannelConformance : public Conformance {};

/// Calls test(form) for every form of a channel.
template <class Test>
void for_each_form(Test test) {
  test(creek::spsc{});
  test(creek::mpsc{});
  test(creek::spmc{});
  test(creek::mpmc{});
}

}  // namespace conformance

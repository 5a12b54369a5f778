// SPDX-License-Identifier: Apache-2.0
#include "simulated_cores.hpp"

#include <algorithm>

namespace creek::scc_backend {

namespace {

std::string state_of(const simulated_core& core) {
  std::string text = " polls";
  if (core.waits_for != nullptr) {
    text = (core.parked ? " waits for " : " polls, last for ") + std::string(core.waits_for) + " " +
           std::to_string(core.waits_at);
  }
  return text + (core.parked ? " since " : " at ") +
         std::to_string(core.clock.femtoseconds / 1'000'000) + " ns";
}

}  // namespace

bool simulated_cores::have_all_ended() const noexcept {
  return std::ranges::all_of(cores_, &simulated_core::ended);
}

std::string simulated_cores::report(const std::string& what) const {
  std::string text = "simulated chip: " + what;
  for (int i = 0; i < size(); ++i) {
    const simulated_core& core = cores_[static_cast<std::size_t>(i)];
    if (core.ended) continue;
    const std::string about = describe_ ? describe_(core_id{i}) : std::string();
    text += "\n  core " + std::to_string(i) + (about.empty() ? about : ", " + about + ",");
    text += state_of(core);
  }
  return text;
}

}  // namespace creek::scc_backend

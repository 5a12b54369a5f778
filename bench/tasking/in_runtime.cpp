// SPDX-License-Identifier: Apache-2.0
#include "in_runtime.hpp"

#include <map>
#include <memory>

namespace bench {

void in_runtime(benchmark::State& state, void (*loop)(benchmark::State&)) {
  static std::map<unsigned, std::unique_ptr<creek::runtime>> kept;
  const auto workers = static_cast<unsigned>(state.range(0));
  auto& runtime = kept[workers];
  if (!runtime) {
    creek::scheduler_options options;
    options.workers = workers;
    runtime = std::make_unique<creek::runtime>(options);
  }
  runtime->run([&] { loop(state); });
}

}  // namespace bench

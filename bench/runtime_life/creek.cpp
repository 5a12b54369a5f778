// SPDX-License-Identifier: Apache-2.0
// A runtime per life.
#include "config.hpp"
#include "harness/creek_runtime.hpp"

namespace bench::runtime_life {
namespace {

sample measure(const settings& s) {
  return run(s, [&](auto task) {
    creek::runtime rt = new_runtime(s);
    rt.run(task);
  });
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::runtime_life

// SPDX-License-Identifier: Apache-2.0
// Linked into a test, it lets the test run with older instruction sets than the processor has:
// CREEK_TEST_INSTRUCTIONS names the newest one allowed, AVX3, AVX2, SSE4 or SCALAR.
#include <hwy/targets.h>

#include <cstdlib>
#include <string_view>

namespace creek::support {
namespace {

[[maybe_unused]] const bool limited = [] {
  const char* const newest = std::getenv("CREEK_TEST_INSTRUCTIONS");
  if (newest == nullptr) return false;
  // Targets are bits, newer ones lower.
  const std::string_view name = newest;
  const auto kept = name == "AVX3"   ? HWY_AVX3
                    : name == "AVX2" ? HWY_AVX2
                    : name == "SSE4" ? HWY_SSE4
                                     : HWY_SCALAR;
  hwy::DisableTargets(kept - 1);
  return true;
}();

}  // namespace
}  // namespace creek::support

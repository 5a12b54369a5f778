// SPDX-License-Identifier: Apache-2.0
// Whether a test takes fewer sizes and repetitions: under a sanitizer at the level `gate`
// (cmake/creek_test.cmake), in as far as every path of the code is still taken. What no sanitizer
// can do asks under_sanitizer (process_facts.hpp).
#pragma once

namespace creek::support {

#ifdef CREEK_TEST_FEW_CASES
inline constexpr bool few_cases = true;
#else
inline constexpr bool few_cases = false;
#endif

}  // namespace creek::support

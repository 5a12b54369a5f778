// SPDX-License-Identifier: Apache-2.0
// The instruction sets that the kernels are not compiled for. Include it before Highway.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)

// SPDX-License-Identifier: Apache-2.0
// The inverse discrete cosine transform of libjpeg's slow integer method.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace creek::mjpeg {

/// Dequantised coefficients of a block, row by row.
using coefficients = std::array<std::int16_t, 64>;

/// Writes the 8 rows of 8 samples of a block, `stride` bytes apart. The algorithm is that of
/// [Loeffler 1989] with 12 multiplications a row or column, in fixed point with 13 bits after the
/// point, two of which are kept between columns and rows; samples are rounded once per pass and
/// limited to 0..255.
void inverse_dct(const coefficients& from, std::uint8_t* to, std::size_t stride);

}  // namespace creek::mjpeg

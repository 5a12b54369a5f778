// SPDX-License-Identifier: Apache-2.0
#include "inverse_dct.hpp"

#include <algorithm>

namespace creek::mjpeg {
namespace {

// Numbers are taken modulo 2^32, so that no input overflows; those of images never wrap.
using word = std::uint32_t;

constexpr int fraction_bits = 13;  // of the constants
constexpr int kept_bits = 2;       // of the results of the first pass

/// Constants of [Loeffler 1989], figure 1, as sums of its cosines.
constexpr word fixed(double x) {
  return static_cast<word>(x * (1 << fraction_bits) + 0.5);
}
constexpr word c0_298631336 = fixed(0.298631336), c0_390180644 = fixed(0.390180644),
               c0_541196100 = fixed(0.541196100), c0_765366865 = fixed(0.765366865),
               c0_899976223 = fixed(0.899976223), c1_175875602 = fixed(1.175875602),
               c1_501321110 = fixed(1.501321110), c1_847759065 = fixed(1.847759065),
               c1_961570560 = fixed(1.961570560), c2_053119869 = fixed(2.053119869),
               c2_562915447 = fixed(2.562915447), c3_072711026 = fixed(3.072711026);

/// Returns x / 2^bits, rounded.
std::int32_t rounded(word x, int bits) {
  return static_cast<std::int32_t>(x + (word{1} << (bits - 1))) >> bits;
}

/// Transforms eight numbers; the results have fraction_bits more.
void transform(const std::array<word, 8>& in, std::array<word, 8>& out) {
  const word even = (in[2] + in[6]) * c0_541196100;
  const word even2 = even - in[6] * c1_847759065, even3 = even + in[2] * c0_765366865;
  const word even0 = (in[0] + in[4]) << fraction_bits, even1 = (in[0] - in[4]) << fraction_bits;
  const std::array<word, 4> evens{even0 + even3, even1 + even2, even1 - even2, even0 - even3};

  const word sum5 = (in[7] + in[3] + in[5] + in[1]) * c1_175875602;
  const word sum1 = (in[7] + in[1]) * c0_899976223, sum2 = (in[5] + in[3]) * c2_562915447;
  const word sum3 = sum5 - (in[7] + in[3]) * c1_961570560;
  const word sum4 = sum5 - (in[5] + in[1]) * c0_390180644;
  const std::array<word, 4> odds{
      in[1] * c1_501321110 - sum1 + sum4, in[3] * c3_072711026 - sum2 + sum3,
      in[5] * c2_053119869 - sum2 + sum4, in[7] * c0_298631336 - sum1 + sum3};
  for (std::size_t i = 0; i < 4; ++i) {
    out[i] = evens[i] + odds[i];
    out[7 - i] = evens[i] - odds[i];
  }
}

}  // namespace

void inverse_dct(const coefficients& from, std::uint8_t* to, std::size_t stride) {
  std::array<word, 64> half;
  std::array<word, 8> in, out;
  for (std::size_t column = 0; column < 8; ++column) {
    for (std::size_t i = 0; i < 8; ++i)
      in[i] = static_cast<word>(std::int32_t{from[8 * i + column]});
    transform(in, out);
    for (std::size_t i = 0; i < 8; ++i)
      half[8 * i + column] = static_cast<word>(rounded(out[i], fraction_bits - kept_bits));
  }
  for (std::size_t row = 0; row < 8; ++row, to += stride) {
    std::copy_n(half.begin() + static_cast<std::ptrdiff_t>(8 * row), 8, in.begin());
    transform(in, out);
    for (std::size_t i = 0; i < 8; ++i) {
      const std::int32_t sample = rounded(out[i], fraction_bits + kept_bits + 3) + 128;
      to[i] = static_cast<std::uint8_t>(std::clamp(sample, 0, 255));
    }
  }
}

}  // namespace creek::mjpeg

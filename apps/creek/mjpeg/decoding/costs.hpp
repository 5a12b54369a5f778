// SPDX-License-Identifier: Apache-2.0
// Cost of decoding on a simulated core.
#pragma once

#include <cstdint>

#include <creek/core/charge.hpp>

namespace creek::mjpeg {

/// Work that the decoder has done.
struct decoding_work {
  std::int64_t bytes = 0;      ///< of entropy-coded data
  std::int64_t symbols = 0;    ///< Huffman codes, with their values
  std::int64_t blocks = 0;     ///< dequantised and transformed
  std::int64_t pixels = 0;     ///< converted to red, green, blue
  std::int64_t upsampled = 0;  ///< pixels of components with fewer samples
  std::int64_t checked = 0;    ///< bytes of which the CRC-32 was taken
};

/// Cycles on an in-order Pentium core (P54C), counted from the source as the work of
/// scc/work_costs.hpp is: two simple instructions a cycle, loads and stores in L1, 10 cycles for an
/// integer multiplication, which overlaps with nothing, and 4 for a mispredicted branch
/// [Intel 241430]. They are estimates, made before any run.
struct decoding_costs {
  /// Load, compare with FF, shift by count (4, not pairable), or, count: as bit_reader::fill().
  std::int64_t byte = 9;
  /// Look at 16 bits (shift by count, 4), table entry, test, shift away (4), count; the value:
  /// shift by count (4), test of its sign, mispredicted half of the time (2), shift away (4), a
  /// multiplication to dequantise (10), its place (2), store; end-of-block test, mispredicted (4).
  std::int64_t symbol = 42;
  /// 16 transforms of 8 numbers, each 12 multiplications (10), 32 additions and 8 roundings of
  /// addition and shift, two instructions a cycle (24), 16 loads and stores with as many spills in
  /// eight registers (16): 160; the limits of 64 samples (2), and 64 coefficients cleared (16).
  std::int64_t block = 16 * 160 + 64 * 2 + 16;
  /// Three loads; products by four tables of 256, as libjpeg makes them (4 loads); five additions,
  /// a shift, three limits by table, three stores, loop.
  std::int64_t pixel = 11;
  /// Load, 3 x by shift and addition, two additions, shift, store: as sample_rows::widen().
  std::int64_t upsampled = 5;
  /// Load, exclusive or, mask, load of the table, shift, exclusive or, loop: each needs the last.
  std::int64_t checked = 6;
};

inline void charge_work(const decoding_work& done) {
  constexpr decoding_costs cost;
  charge(cycles{done.bytes * cost.byte + done.symbols * cost.symbol + done.blocks * cost.block +
                done.pixels * cost.pixel + done.upsampled * cost.upsampled +
                done.checked * cost.checked});
}

}  // namespace creek::mjpeg

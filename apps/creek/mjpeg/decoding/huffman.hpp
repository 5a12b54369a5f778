// SPDX-License-Identifier: Apache-2.0
// Huffman codes of baseline JPEG [ITU T.81, C and F.2.2.3].
#pragma once

#include <array>
#include <cstdint>

#include "bit_reader.hpp"
#include "header.hpp"

namespace creek::mjpeg {

/// Decodes codes of up to 9 bits by one look at a table, longer ones by their length.
class huffman_table {
 public:
  /// Throws damaged_frame if the codes do not fit their lengths.
  explicit huffman_table(const huffman_spec& spec);

  /// Returns the next symbol. Throws damaged_frame for bits that are no code.
  unsigned next(bit_reader& from) const {
    const unsigned bits = from.peek();
    const entry found = short_codes_[bits >> (16 - short_bits)];
    if (found.length == 0) return next_long(from, bits);
    from.drop(found.length);
    return found.symbol;
  }
  /// Returns the largest symbol.
  [[nodiscard]] unsigned max_symbol() const { return max_symbol_; }

 private:
  static constexpr unsigned short_bits = 9;
  struct entry {
    std::uint8_t length = 0;  // 0: the code is longer, or there is none
    std::uint8_t symbol = 0;
  };
  void enter(unsigned code, unsigned length, unsigned symbol);
  unsigned next_long(bit_reader& from, unsigned bits) const;

  std::array<entry, 1 << short_bits> short_codes_{};
  std::array<unsigned, 17> end_{};  // by length: behind its last code, in 16 bits
  std::array<int, 17> index_{};     // by length: what to add to a code for its symbol's index
  std::array<std::uint8_t, 256> symbols_;
  unsigned max_symbol_ = 0;
};

}  // namespace creek::mjpeg

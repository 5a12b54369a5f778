// SPDX-License-Identifier: Apache-2.0
#include "huffman.hpp"

#include <algorithm>

namespace creek::mjpeg {

huffman_table::huffman_table(const huffman_spec& spec) : symbols_(spec.symbols) {
  unsigned code = 0;
  int symbol = 0;
  for (unsigned length = 1; length <= 16; ++length, code <<= 1) {
    index_[length] = symbol - static_cast<int>(code);
    for (unsigned i = 0; i < spec.counts[length - 1]; ++i, ++code, ++symbol)
      enter(code, length, symbols_[static_cast<std::size_t>(symbol)]);
    if (code > 1u << length) throw damaged_frame("a Huffman table has too many codes");
    end_[length] = code << (16 - length);
  }
}

void huffman_table::enter(unsigned code, unsigned length, unsigned symbol) {
  if (code >= 1u << length) throw damaged_frame("a Huffman table has too many codes");
  max_symbol_ = std::max(max_symbol_, symbol);
  if (length > short_bits) return;
  const unsigned more = short_bits - length;
  std::fill_n(short_codes_.begin() + (code << more), 1 << more,
              entry{static_cast<std::uint8_t>(length), static_cast<std::uint8_t>(symbol)});
}

unsigned huffman_table::next_long(bit_reader& from, unsigned bits) const {
  for (unsigned length = short_bits + 1; length <= 16; ++length) {
    if (bits >= end_[length]) continue;
    from.drop(length);
    const int at = static_cast<int>(bits >> (16 - length)) + index_[length];
    if (at < 0) break;
    return symbols_[static_cast<std::size_t>(at) % symbols_.size()];
  }
  throw damaged_frame("its data are damaged");
}

}  // namespace creek::mjpeg

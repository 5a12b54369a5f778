// SPDX-License-Identifier: Apache-2.0
#include "block_reader.hpp"

#include <creek/stream/descriptors.hpp>
#include <span>
#include <utility>

namespace creek::tool {

void block_reader::operator()(stream::out<input_block>& to) {
  for (;;) {
    count_.add();
    input_block block = read_block(to);
    if (block.size == 0) break;
    to.write(std::move(block));
  }
  count_.remove();
}

input_block block_reader::read_block(stream::out<input_block>& to) const {
  input_block block{std::make_unique_for_overwrite<char[]>(block_bytes_), 0};
  while (block.size < block_bytes_) {
    const std::span<char> rest(block.bytes.get() + block.size, block_bytes_ - block.size);
    const std::size_t read = stream::read_some(file_, rest, to);
    if (read == 0) break;
    block.size += read;
  }
  return block;
}

}  // namespace creek::tool

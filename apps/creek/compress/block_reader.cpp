// SPDX-License-Identifier: Apache-2.0
#include "block_reader.hpp"

#include <creek/tasking/descriptors.hpp>
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
  while (block.size < block_bytes_ && wait_for_bytes(to)) {
    const std::size_t read = file_.read(block.bytes.get() + block.size, block_bytes_ - block.size);
    if (read == 0) break;
    block.size += read;
  }
  return block;
}

/// Returns false once the pipeline is to end.
bool block_reader::wait_for_bytes(stream::out<input_block>& to) const {
  bool is_ready = false;
  to.wait_elsewhere([&] { is_ready = wait_readable(file_.descriptor(), to.early_end()); });
  return is_ready;
}

}  // namespace creek::tool

// SPDX-License-Identifier: Apache-2.0
#include "block_reader.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <creek/core/error.hpp>
#include <exception>

namespace creek::tool {

block_reader::block_reader(const open_file& file, std::size_t block_bytes, bool in_thread,
                           block_count& count)
    : file_(file), block_bytes_(block_bytes), count_(count) {
  if (!in_thread) return;
  if (pipe2(stop_, O_CLOEXEC) != 0) throw error(errno, "cannot make a pipe");
  thread_ = std::thread([this] { read_all(); });
}

block_reader::~block_reader() {
  if (!thread_.joinable()) return;
  close(stop_[1]);
  blocks_.close();
  thread_.join();
  close(stop_[0]);
}

std::optional<input_block> block_reader::next() {
  if (!thread_.joinable()) return read_block();
  auto block = blocks_.receive();
  if (!block) return std::nullopt;
  return std::move(*block);
}

void block_reader::read_all() noexcept {
  try {
    while (auto block = read_block()) {
      if (!blocks_.send(std::move(*block))) return;
    }
    blocks_.close();
  } catch (...) {
    blocks_.close(std::current_exception());
  }
}

std::optional<input_block> block_reader::read_block() {
  count_.add();
  input_block block{std::make_unique_for_overwrite<char[]>(block_bytes_), 0};
  while (block.size < block_bytes_ && wait_for_bytes()) {
    const std::size_t read = file_.read(block.bytes.get() + block.size, block_bytes_ - block.size);
    if (read == 0) break;
    block.size += read;
  }
  if (block.size != 0) return block;
  count_.remove();
  return std::nullopt;
}

/// Returns false once the reader is to stop.
bool block_reader::wait_for_bytes() const {
  if (stop_[0] < 0) return true;
  pollfd watched[] = {{file_.descriptor(), POLLIN, 0}, {stop_[0], 0, 0}};  // a hang-up comes anyhow
  while (poll(watched, 2, -1) < 0) {
    if (errno != EINTR) throw error(errno, file_.name());
  }
  return watched[1].revents == 0;
}

}  // namespace creek::tool

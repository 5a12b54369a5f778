// SPDX-License-Identifier: Apache-2.0
#include "bulk_transfers.hpp"

#include <algorithm>

#include "line_buffers.hpp"

namespace creek::scc_backend {

namespace {

/// Requests of one core that are simulated as one: enough that walking over memory costs the host
/// little, and short compared with any measured time.
constexpr std::int64_t batch = 128;

std::int64_t lines_in(std::size_t bytes) noexcept {
  // No run walks over more, and the cycles still fit a number.
  constexpr std::size_t most = std::size_t{1} << 50;
  return static_cast<std::int64_t>(std::min(bytes / line_size + (bytes % line_size != 0), most));
}

}  // namespace

void bulk_transfers::stream(const off_chip::block& at, std::int64_t requests, cycles overhead) {
  while (requests > 0) {
    const std::int64_t now = std::min(requests, batch);
    const passage way = mesh_.to_dram(at, overhead, now);
    simulation_.set_clock(way.answered);
    limits_.note_progress();
    requests -= now;
  }
}

void bulk_transfers::private_read(std::size_t bytes, std::size_t working_set) {
  const std::int64_t lines = lines_in(bytes);
  if (working_set <= chip_.l1_bytes) {
    computing_.charge(lines * chip_.costs.l1_line);
  } else if (working_set <= chip_.l2_bytes) {
    computing_.charge(lines * chip_.costs.l2_line_read);
  } else {
    stream(dram_.home_of(simulation_.running()), lines,
           chip_.costs.dram_line_read + (words_a_line - 1) * chip_.costs.l1_word);
  }
}

void bulk_transfers::private_write(std::size_t bytes, std::size_t working_set, write_mode mode) {
  const std::int64_t lines = lines_in(bytes);
  const bool combined = mode == write_mode::combined;
  if (!combined && working_set <= chip_.l1_bytes) {
    computing_.charge(lines * chip_.costs.l1_line);
  } else if (working_set <= chip_.l2_bytes) {
    computing_.charge(lines *
                      (combined ? chip_.costs.l2_line_combined : chip_.costs.l2_line_write));
  } else if (combined) {
    stream(dram_.home_of(simulation_.running()), lines, chip_.costs.dram_line_write);
  } else {  // no allocation on a write miss: each word goes on its own
    stream(dram_.home_of(simulation_.running()), words_a_line * lines,
           chip_.costs.dram_word_around);
  }
}

void bulk_transfers::move_block(std::uint64_t block, std::size_t bytes, bool written) {
  const off_chip::block at = dram_.place_of(block);
  const std::int64_t lines = lines_in(bytes);
  if (block_moves_ == block_moves::uncached) {
    stream(at, words_a_line * lines, chip_.costs.dram_word);
  } else if (written) {
    stream(at, lines, chip_.costs.dram_line_write);
  } else {
    stream(at, lines, chip_.costs.dram_line_read + (words_a_line - 1) * chip_.costs.l1_word);
  }
}

void bulk_transfers::touch_words(std::uint64_t block, std::int64_t words) {
  stream(dram_.place_of(block), 2 * words, chip_.costs.dram_word);
}

}  // namespace creek::scc_backend

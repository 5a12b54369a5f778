// SPDX-License-Identifier: Apache-2.0
#include "bzip2_block.hpp"

#include <bzlib.h>

#include <creek/core/charge.hpp>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <utility>

namespace creek::tool {
namespace {

/// Cycles of a simulated core per byte of a block. An estimate: one per instruction, as two that
/// are issued at once and branches that are mispredicted balance in work_costs.hpp, with memory in
/// L1. Callgrind counts 313 to 320 instructions of libbz2 1.0.8 per byte of English text and source
/// code in blocks of 900 kB (docs/compress.md); runs and repetitions make it 500 and more.
constexpr std::int64_t cycles_per_byte = 320;

/// libbz2's work factor: how long it compares repeated text before it changes to its other sort. It
/// does not change the bytes. 30, the default, changes too early for texts with copies of files
/// (8.7 MB/s instead of 9.9) and programs (11.0 instead of 11.5); in return blocks that repeat a
/// short piece throughout take a fifth longer.
constexpr int work_factor = 60;

/// libbz2 asks for its state, two arrays of four bytes per byte of a block, and a table.
constexpr std::size_t memory_for(int level) noexcept {
  return static_cast<std::size_t>(level) * 800'000 + 400'000;
}

constexpr std::size_t line = 64;  // of the cache

/// A stream is at most that long, by libbz2's manual.
constexpr std::size_t max_stream(std::size_t bytes) noexcept {
  return bytes + bytes / 100 + 600;
}

}  // namespace

/// Memory for one stream at a time: that of its output, then that of libbz2. Large pages make no
/// difference that can be measured.
class bzip2_workspace {
 public:
  explicit bzip2_workspace(int level)
      : size_(max_stream(block_bytes(level)) + memory_for(level)),
        memory_(std::make_unique_for_overwrite<char[]>(size_)),
        level_(level) {}

  [[nodiscard]] std::string compress(std::string_view block) {
    used_ = max_stream(block.size()) / line * line + line;
    bz_stream stream{};
    stream.opaque = this;
    stream.bzalloc = &bzip2_workspace::allocate;
    stream.bzfree = [](void*, void*) {};
    stream.next_in = const_cast<char*>(block.data());
    stream.avail_in = static_cast<unsigned>(block.size());
    stream.next_out = memory_.get();
    const auto room = static_cast<unsigned>(max_stream(block.size()));
    stream.avail_out = room;
    if (BZ2_bzCompressInit(&stream, level_, 0, work_factor) != BZ_OK) throw std::bad_alloc();
    const int ended = BZ2_bzCompress(&stream, BZ_FINISH);
    BZ2_bzCompressEnd(&stream);
    if (ended != BZ_STREAM_END) throw std::logic_error("libbz2: a stream longer than it may be");
    return {memory_.get(), room - stream.avail_out};
  }

 private:
  static void* allocate(void* self, int count, int size) {
    auto& here = *static_cast<bzip2_workspace*>(self);
    const std::size_t bytes =
        (static_cast<std::size_t>(count) * static_cast<std::size_t>(size) + line - 1) / line * line;
    if (here.size_ - here.used_ < bytes) return nullptr;
    return here.memory_.get() + std::exchange(here.used_, here.used_ + bytes);
  }

  std::size_t size_;
  std::unique_ptr<char[]> memory_;
  std::size_t used_ = 0;
  int level_;
};

bzip2_compressor::bzip2_compressor(int level) : level_(level) {}
bzip2_compressor::~bzip2_compressor() = default;

std::string bzip2_compressor::operator()(std::string_view block) {
  std::unique_ptr<bzip2_workspace> with = take();
  std::string stream = with->compress(block);
  give_back(std::move(with));
  charge(cycles{cycles_per_byte * static_cast<std::int64_t>(block.size())});
  return stream;
}

std::unique_ptr<bzip2_workspace> bzip2_compressor::take() {
  {
    const std::lock_guard locked(lock_);
    if (!free_.empty()) {
      std::unique_ptr<bzip2_workspace> one = std::move(free_.back());
      free_.pop_back();
      return one;
    }
  }
  return std::make_unique<bzip2_workspace>(level_);
}

void bzip2_compressor::give_back(std::unique_ptr<bzip2_workspace> free) {
  const std::lock_guard locked(lock_);
  free_.push_back(std::move(free));
}

}  // namespace creek::tool

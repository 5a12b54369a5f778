// SPDX-License-Identifier: Apache-2.0
// Decompresses concatenated bzip2 streams.
#include "byte_source.hpp"

#include <bzlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <creek/core/error.hpp>

namespace creek::mapreduce::detail {
namespace {

class bzip2_source final : public byte_source {
 public:
  bzip2_source(const open_file& file, std::string_view first) : file_(&file), input_(file, first) {
    begin_stream();
  }
  ~bzip2_source() override { BZ2_bzDecompressEnd(&stream_); }

  std::size_t read(char* to, std::size_t bytes) override {
    stream_.next_out = to;
    stream_.avail_out = static_cast<unsigned>(std::min<std::size_t>(bytes, 1u << 30));
    const unsigned room = stream_.avail_out;
    while (stream_.avail_out == room && room != 0 && !done_) step();
    return room - stream_.avail_out;
  }

 private:
  void step() {
    if (stream_.avail_in == 0) refill();
    if (done_) return;
    if (stream_ended_) {
      BZ2_bzDecompressEnd(&stream_);
      begin_stream();
    }
    const int code = BZ2_bzDecompress(&stream_);
    if (code == BZ_STREAM_END) {
      stream_ended_ = true;
    } else if (code == BZ_MEM_ERROR) {
      fail("no memory to decompress", ENOMEM);
    } else if (code != BZ_OK) {
      fail("damaged bzip2 data", EIO);
    }
  }

  void refill() {
    const std::size_t got = input_.read(chunk_.data(), chunk_.size());
    stream_.next_in = chunk_.data();
    stream_.avail_in = static_cast<unsigned>(got);
    if (got != 0) return;
    if (!stream_ended_) fail("truncated bzip2 data", EIO);
    done_ = true;
  }

  /// Begins a stream; keeps the remaining input.
  void begin_stream() {
    if (BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) fail("no memory to decompress", ENOMEM);
    stream_ended_ = false;
  }

  [[noreturn]] void fail(const char* why, int code) const {
    throw error(code, file_->name() + ": " + why);
  }

  const open_file* file_;
  plain_source input_;
  bz_stream stream_{};
  std::array<char, 64 * 1024> chunk_;
  bool stream_ended_ = false;  // and no byte of a next one was read
  bool done_ = false;
};

}  // namespace

std::unique_ptr<byte_source> open_bzip2(const open_file& file, std::string_view first) {
  return std::make_unique<bzip2_source>(file, first);
}

}  // namespace creek::mapreduce::detail

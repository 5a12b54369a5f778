// SPDX-License-Identifier: Apache-2.0
// Decompresses concatenated xz streams, and skips the padding between and after them.
#include "byte_source.hpp"

#include <lzma.h>

#include <array>
#include <cerrno>
#include <creek/core/error.hpp>

namespace creek::mapreduce::detail {
namespace {

/// The largest preset of the xz tool needs 65 MiB; a header may ask for 4 GiB.
constexpr std::uint64_t max_memory = std::uint64_t{256} << 20;

class xz_source final : public byte_source {
 public:
  xz_source(const open_file& file, std::string_view first) : file_(&file), input_(file, first) {
    if (lzma_stream_decoder(&stream_, max_memory, LZMA_CONCATENATED) != LZMA_OK) {
      fail("no memory to decompress", ENOMEM);
    }
  }
  ~xz_source() override { lzma_end(&stream_); }

  std::size_t read(char* to, std::size_t bytes) override {
    stream_.next_out = reinterpret_cast<std::uint8_t*>(to);
    stream_.avail_out = bytes;
    while (stream_.avail_out == bytes && bytes != 0 && !done_) step();
    return bytes - stream_.avail_out;
  }

 private:
  void step() {
    if (stream_.avail_in == 0 && !at_end_) {
      stream_.avail_in = input_.read(chunk_.data(), chunk_.size());
      stream_.next_in = reinterpret_cast<const std::uint8_t*>(chunk_.data());
      at_end_ = stream_.avail_in == 0;
    }
    switch (lzma_code(&stream_, at_end_ ? LZMA_FINISH : LZMA_RUN)) {
      case LZMA_OK:
        return;
      case LZMA_STREAM_END:
        done_ = true;
        return;
      case LZMA_MEM_ERROR:
        fail("no memory to decompress", ENOMEM);
      case LZMA_MEMLIMIT_ERROR:
        fail("xz data needs too much memory to decompress", ENOMEM);
      case LZMA_BUF_ERROR:  // no progress: end of file, or the library's first attempt
        if (at_end_) fail("truncated xz data", EIO);
        return;
      default:
        fail("damaged xz data", EIO);
    }
  }

  [[noreturn]] void fail(const char* why, int code) const {
    throw error(code, file_->name() + ": " + why);
  }

  const open_file* file_;
  plain_source input_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  std::array<char, 64 * 1024> chunk_;
  bool at_end_ = false;  // of the file
  bool done_ = false;
};

}  // namespace

std::unique_ptr<byte_source> open_xz(const open_file& file, std::string_view first) {
  return std::make_unique<xz_source>(file, first);
}

}  // namespace creek::mapreduce::detail

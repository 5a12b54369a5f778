// SPDX-License-Identifier: Apache-2.0
// Decompresses concatenated xz streams, and skips the padding between and after them.
#include <lzma.h>

#include <cerrno>
#include <creek/core/error.hpp>
#include <cstdint>

#include "decoder.hpp"

namespace creek::mapreduce::detail {
namespace {

/// The largest preset of the xz tool needs 65 MiB; a header may ask for 4 GiB.
constexpr std::uint64_t max_memory = std::uint64_t{256} << 20;

class xz_decoder final : public decoder {
 public:
  explicit xz_decoder(const std::string& file) : file_(file) { begin_stream(); }
  ~xz_decoder() override { lzma_end(&stream_); }

  std::size_t decode(std::string_view& in, char* to, std::size_t room, bool last) override {
    stream_.next_out = reinterpret_cast<std::uint8_t*>(to);
    stream_.avail_out = room;
    while (stream_.avail_out != 0) {
      if (stream_ended_ && !next_stream(in)) break;
      if (!step(in)) break;
    }
    const std::size_t written = room - stream_.avail_out;
    if (last && room != 0 && written == 0 && in.empty()) {
      if (!stream_ended_) fail("truncated xz data", EIO);
      if (padding_ % 4 != 0) fail("damaged xz data", EIO);
    }
    return written;
  }

  bool at_border() const noexcept override { return stream_ended_ && padding_ % 4 == 0; }

 private:
  /// Returns false if more input is needed.
  bool step(std::string_view& in) {
    const std::size_t room = stream_.avail_out, before = in.size();
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
    stream_.avail_in = in.size();
    const lzma_ret code = lzma_code(&stream_, LZMA_RUN);
    in.remove_prefix(in.size() - stream_.avail_in);
    switch (code) {
      case LZMA_OK:
        return in.size() != before || stream_.avail_out != room;
      case LZMA_BUF_ERROR:  // no progress
        return false;
      case LZMA_STREAM_END:
        stream_ended_ = true;
        padding_ = 0;
        return true;
      case LZMA_MEM_ERROR:
        fail("no memory to decompress", ENOMEM);
      case LZMA_MEMLIMIT_ERROR:
        fail("xz data needs too much memory to decompress", ENOMEM);
      default:
        fail("damaged xz data", EIO);
    }
  }

  /// Skips zeros, of which there are four or a multiple, and begins the next stream. Returns false
  /// if there is none, or not yet.
  bool next_stream(std::string_view& in) {
    while (!in.empty() && in.front() == '\0') {
      in.remove_prefix(1);
      ++padding_;
    }
    if (in.empty()) return false;
    if (padding_ % 4 != 0) fail("damaged xz data", EIO);
    begin_stream();
    return true;
  }

  void begin_stream() {
    if (lzma_stream_decoder(&stream_, max_memory, 0) != LZMA_OK) {
      fail("no memory to decompress", ENOMEM);
    }
    stream_ended_ = false;
  }

  [[noreturn]] void fail(const char* why, int code) const { throw error(code, file_ + ": " + why); }

  std::string file_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  std::uint64_t padding_ = 0;  // bytes after the stream
  bool stream_ended_ = false;  // and no byte of a next one was read
};

}  // namespace

std::unique_ptr<decoder> open_xz(const std::string& file) {
  return std::make_unique<xz_decoder>(file);
}

}  // namespace creek::mapreduce::detail

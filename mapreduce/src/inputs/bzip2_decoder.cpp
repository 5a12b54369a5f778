// SPDX-License-Identifier: Apache-2.0
// Decompresses concatenated bzip2 streams.
#include <bzlib.h>

#include <cerrno>
#include <creek/core/error.hpp>

#include "decoder.hpp"

namespace creek::mapreduce::detail {
namespace {

class bzip2_decoder final : public decoder {
 public:
  explicit bzip2_decoder(const std::string& file) : file_(file) { begin_stream(); }
  ~bzip2_decoder() override { BZ2_bzDecompressEnd(&stream_); }

  std::size_t decode(std::string_view& in, char* to, std::size_t room, bool last) override {
    stream_.next_out = to;
    stream_.avail_out = static_cast<unsigned>(room);
    while (stream_.avail_out != 0 && step(in)) {
    }
    const std::size_t written = room - stream_.avail_out;
    if (last && room != 0 && written == 0 && in.empty() && !stream_ended_) {
      fail("truncated bzip2 data", EIO);
    }
    return written;
  }

  bool at_border() const noexcept override { return stream_ended_; }

 private:
  /// Returns false if more input is needed.
  bool step(std::string_view& in) {
    if (stream_ended_) {
      if (in.empty()) return false;
      BZ2_bzDecompressEnd(&stream_);
      begin_stream();
    }
    const unsigned room = stream_.avail_out;
    const std::size_t before = in.size();
    stream_.next_in = const_cast<char*>(in.data());
    stream_.avail_in = static_cast<unsigned>(in.size());
    const int code = BZ2_bzDecompress(&stream_);
    in.remove_prefix(in.size() - stream_.avail_in);
    if (code == BZ_STREAM_END) {
      stream_ended_ = true;
    } else if (code == BZ_MEM_ERROR) {
      fail("no memory to decompress", ENOMEM);
    } else if (code != BZ_OK) {
      fail("damaged bzip2 data", EIO);
    }
    return stream_ended_ || in.size() != before || stream_.avail_out != room;
  }

  /// Begins a stream; keeps the room for output.
  void begin_stream() {
    if (BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) fail("no memory to decompress", ENOMEM);
    stream_ended_ = false;
  }

  [[noreturn]] void fail(const char* why, int code) const { throw error(code, file_ + ": " + why); }

  std::string file_;
  bz_stream stream_{};
  bool stream_ended_ = false;  // and no byte of a next one was read
};

}  // namespace

std::unique_ptr<decoder> open_bzip2(const std::string& file) {
  return std::make_unique<bzip2_decoder>(file);
}

}  // namespace creek::mapreduce::detail

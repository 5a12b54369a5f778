// SPDX-License-Identifier: Apache-2.0
// Decompresses concatenated Zstandard frames; the library skips skippable ones.
#include "byte_source.hpp"

#include <zstd.h>
#include <zstd_errors.h>

#include <array>
#include <cerrno>
#include <creek/core/error.hpp>
#include <cstring>

namespace creek::mapreduce::detail {
namespace {

class zstd_source final : public byte_source {
 public:
  zstd_source(const open_file& file, std::string_view first)
      : file_(&file), input_(file, first), stream_(ZSTD_createDStream(), ZSTD_freeDStream) {
    if (stream_ == nullptr) throw error(ENOMEM, file.name() + ": no memory to decompress");
  }

  std::size_t read(char* to, std::size_t bytes) override {
    ZSTD_outBuffer out{to, bytes, 0};
    while (out.pos == 0 && bytes != 0) {
      if (frame_ended_ && !begin_frame()) break;
      step(out);
    }
    return out.pos;
  }

 private:
  /// Buffers at least `bytes` bytes of the file contiguously, or all that are left.
  void look_ahead(std::size_t bytes) {
    std::size_t end = ahead_.size - ahead_.pos;
    std::memmove(chunk_.data(), chunk_.data() + ahead_.pos, end);
    while (end < bytes) {
      const std::size_t got = input_.read(chunk_.data() + end, chunk_.size() - end);
      if (got == 0) break;
      end += got;
    }
    ahead_ = {chunk_.data(), end, 0};
  }

  /// Returns false at the end of the file.
  bool begin_frame() {
    constexpr std::size_t longest_header = 18;  // [RFC 8878], 3.1.1.1, with the magic number
    if (ahead_.size - ahead_.pos < longest_header) look_ahead(longest_header);
    if (ahead_.pos == ahead_.size) return false;
    // The library reports a damaged or truncated header.
    announced_ = ZSTD_getFrameContentSize(chunk_.data() + ahead_.pos, ahead_.size - ahead_.pos);
    given_ = 0;
    // The first byte separately: a frame that is buffered completely would not be decoded as a
    // stream, and the damage reported would depend on the sizes of buffers.
    ZSTD_inBuffer first{chunk_.data(), ahead_.pos + 1, ahead_.pos};
    ZSTD_outBuffer none{nullptr, 0, 0};
    const std::size_t code = ZSTD_decompressStream(stream_.get(), &none, &first);
    if (ZSTD_isError(code) != 0) fail(code);
    ahead_.pos = first.pos;
    frame_ended_ = false;
    return true;
  }

  void step(ZSTD_outBuffer& out) {
    if (ahead_.pos == ahead_.size) look_ahead(1);
    const std::size_t before = out.pos, taken = ahead_.pos;
    const std::size_t code = ZSTD_decompressStream(stream_.get(), &out, &ahead_);
    if (ZSTD_isError(code) != 0) fail(code);
    given_ += out.pos - before;
    frame_ended_ = code == 0;
    // The library does not check this for a frame whose last block is empty.
    if (frame_ended_ && announced_ < ZSTD_CONTENTSIZE_ERROR && given_ != announced_) {
      damaged("other size than announced");
    }
    if (out.pos == before && ahead_.pos == taken && !frame_ended_) {
      throw error(EIO, file_->name() + ": truncated zstd data");
    }
  }

  [[noreturn]] void fail(std::size_t code) const {
    const bool memory = ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation;
    if (memory) throw error(ENOMEM, file_->name() + ": no memory to decompress");
    damaged(ZSTD_getErrorName(code));
  }

  [[noreturn]] void damaged(const char* why) const {
    throw error(EIO, file_->name() + ": damaged zstd data (" + why + ")");
  }

  const open_file* file_;
  plain_source input_;
  std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream_;
  std::array<char, 128 * 1024> chunk_;
  ZSTD_inBuffer ahead_{nullptr, 0, 0};
  bool frame_ended_ = true;
  unsigned long long announced_ = 0;  // content size of the frame, if its header has it
  unsigned long long given_ = 0;      // bytes of it returned so far
};

}  // namespace

std::unique_ptr<byte_source> open_zstd(const open_file& file, std::string_view first) {
  return std::make_unique<zstd_source>(file, first);
}

}  // namespace creek::mapreduce::detail

// SPDX-License-Identifier: Apache-2.0
// Decompresses Zstandard frames one after another; the library passes over skippable ones.
#include "byte_source.hpp"

#include <zstd.h>
#include <zstd_errors.h>

#include <array>
#include <cerrno>
#include <creek/core/error.hpp>

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
      // What the library still holds of a frame comes before the next bytes of the file.
      if (ahead_.pos == ahead_.size && !refill() && !step(out)) break;
      if (ahead_.pos < ahead_.size) step(out);
    }
    return out.pos;
  }

 private:
  bool refill() {
    ahead_ = {chunk_.data(), input_.read(chunk_.data(), chunk_.size()), 0};
    return ahead_.size != 0;
  }

  /// False at the end of the last frame.
  bool step(ZSTD_outBuffer& out) {
    if (ahead_.pos == ahead_.size && frame_ended_) return false;
    const std::size_t before = out.pos, taken = ahead_.pos;
    const std::size_t code = ZSTD_decompressStream(stream_.get(), &out, &ahead_);
    if (ZSTD_isError(code) != 0) fail(code);
    frame_ended_ = code == 0;
    if (out.pos == before && ahead_.pos == taken && !frame_ended_) {
      throw error(EIO, file_->name() + ": truncated zstd data");
    }
    return true;
  }

  [[noreturn]] void fail(std::size_t code) const {
    const bool memory = ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation;
    if (memory) throw error(ENOMEM, file_->name() + ": no memory to decompress");
    throw error(EIO, file_->name() + ": damaged zstd data (" + ZSTD_getErrorName(code) + ")");
  }

  const open_file* file_;
  plain_source input_;
  std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream_;
  std::array<char, 128 * 1024> chunk_;
  ZSTD_inBuffer ahead_{nullptr, 0, 0};
  bool frame_ended_ = true;
};

}  // namespace

std::unique_ptr<byte_source> open_zstd(const open_file& file, std::string_view first) {
  return std::make_unique<zstd_source>(file, first);
}

}  // namespace creek::mapreduce::detail

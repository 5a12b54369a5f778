// SPDX-License-Identifier: Apache-2.0
// Decompresses concatenated lz4 frames; the library skips skippable ones.
#include <lz4frame.h>

#include <cerrno>
#include <creek/core/error.hpp>

#include "decoder.hpp"

namespace creek::mapreduce::detail {
namespace {

class lz4_decoder final : public decoder {
 public:
  explicit lz4_decoder(const std::string& file) : file_(file) {
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context_, LZ4F_VERSION)) != 0) {
      throw error(ENOMEM, file_ + ": no memory to decompress");
    }
  }
  ~lz4_decoder() override { LZ4F_freeDecompressionContext(context_); }

  std::size_t decode(std::string_view& in, char* to, std::size_t room, bool last) override {
    std::size_t written = 0;
    while (written != room) {
      if (frame_ended_ && in.empty()) break;
      std::size_t made = room - written, taken = in.size();
      const std::size_t code =
          LZ4F_decompress(context_, to + written, &made, in.data(), &taken, nullptr);
      if (LZ4F_isError(code) != 0) {
        const std::string_view why = LZ4F_getErrorName(code);
        if (why.find("allocation") != why.npos) {
          throw error(ENOMEM, file_ + ": no memory to decompress");
        }
        throw error(EIO, file_ + ": damaged lz4 data (" + std::string(why) + ")");
      }
      in.remove_prefix(taken);
      written += made;
      if (made == 0 && taken == 0) break;
      frame_ended_ = code == 0;
    }
    if (last && room != 0 && written == 0 && in.empty() && !frame_ended_) {
      throw error(EIO, file_ + ": truncated lz4 data");
    }
    return written;
  }

  bool at_border() const noexcept override { return frame_ended_; }

 private:
  std::string file_;
  LZ4F_dctx* context_ = nullptr;
  bool frame_ended_ = false;  // and no byte of a next one was read
};

}  // namespace

std::unique_ptr<decoder> open_lz4(const std::string& file) {
  return std::make_unique<lz4_decoder>(file);
}

}  // namespace creek::mapreduce::detail

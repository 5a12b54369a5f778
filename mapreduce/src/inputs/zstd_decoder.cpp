// SPDX-License-Identifier: Apache-2.0
// Decompresses concatenated Zstandard frames [RFC 8878]; the library skips skippable ones.
#include <zstd.h>
#include <zstd_errors.h>

#include <cerrno>
#include <creek/core/error.hpp>

#include "decoder.hpp"

namespace creek::mapreduce::detail {
namespace {

class zstd_decoder final : public decoder {
 public:
  explicit zstd_decoder(const std::string& file)
      : file_(file), stream_(ZSTD_createDStream(), ZSTD_freeDStream) {
    if (stream_ == nullptr) throw error(ENOMEM, file + ": no memory to decompress");
  }

  std::size_t decode(std::string_view& in, char* to, std::size_t room, bool last) override {
    ZSTD_outBuffer out{to, room, 0};
    while (out.pos != room) {
      if (frame_ended_ && !begin_frame(in, last)) break;
      if (!step(in, out)) break;
    }
    if (last && room != 0 && out.pos == 0 && in.empty() && !frame_ended_) {
      throw error(EIO, file_ + ": truncated zstd data");
    }
    return out.pos;
  }

  bool at_border() const noexcept override { return frame_ended_ && head_.empty(); }

 private:
  /// Returns false if there is no frame, or not all of its header yet.
  bool begin_frame(std::string_view& in, bool last) {
    constexpr std::size_t longest_header = 18;  // [RFC 8878], 3.1.1.1, with the magic number
    for (;;) {
      announced_ = ZSTD_getFrameContentSize(head_.data(), head_.size());
      const bool whole = announced_ != ZSTD_CONTENTSIZE_ERROR || head_.size() == longest_header;
      if (whole) break;  // the library reports a damaged header
      if (in.empty()) {
        if (head_.empty() || !last) return false;
        break;
      }
      head_ += in.front();
      in.remove_prefix(1);
    }
    given_ = 0;
    // The first byte separately: a frame that is there completely would not be decoded as a stream,
    // and the damage reported would depend on the sizes of buffers.
    ZSTD_outBuffer none{nullptr, 0, 0};
    ZSTD_inBuffer first{head_.data(), 1, 0};
    const std::size_t code = ZSTD_decompressStream(stream_.get(), &none, &first);
    if (ZSTD_isError(code) != 0) fail(code);
    head_.erase(0, first.pos);
    frame_ended_ = false;
    return true;
  }

  /// Returns false if more input is needed.
  bool step(std::string_view& in, ZSTD_outBuffer& out) {
    const bool from_head = !head_.empty();
    ZSTD_inBuffer source{from_head ? head_.data() : in.data(), from_head ? head_.size() : in.size(),
                         0};
    const std::size_t before = out.pos;
    const std::size_t code = ZSTD_decompressStream(stream_.get(), &out, &source);
    if (ZSTD_isError(code) != 0) fail(code);
    if (from_head) {
      head_.erase(0, source.pos);
    } else {
      in.remove_prefix(source.pos);
    }
    given_ += out.pos - before;
    frame_ended_ = code == 0;
    // The library does not check this for a frame whose last block is empty.
    if (frame_ended_ && announced_ < ZSTD_CONTENTSIZE_ERROR && given_ != announced_) {
      damaged("other size than announced");
    }
    return frame_ended_ || out.pos != before || source.pos != 0;
  }

  [[noreturn]] void fail(std::size_t code) const {
    const bool memory = ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation;
    if (memory) throw error(ENOMEM, file_ + ": no memory to decompress");
    damaged(ZSTD_getErrorName(code));
  }

  [[noreturn]] void damaged(const char* why) const {
    throw error(EIO, file_ + ": damaged zstd data (" + why + ")");
  }

  std::string file_;
  std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream_;
  std::string head_;  // input that the stream has not got yet: the frame's header
  bool frame_ended_ = true;
  unsigned long long announced_ = 0;  // content size of the frame, if its header has it
  unsigned long long given_ = 0;      // bytes of it returned so far
};

}  // namespace

std::unique_ptr<decoder> open_zstd(const std::string& file) {
  return std::make_unique<zstd_decoder>(file);
}

}  // namespace creek::mapreduce::detail

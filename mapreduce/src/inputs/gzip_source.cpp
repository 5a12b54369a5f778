// SPDX-License-Identifier: Apache-2.0
// Decompresses concatenated gzip members.
#include "byte_source.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <creek/core/error.hpp>

namespace creek::mapreduce::detail {
namespace {

class gzip_source final : public byte_source {
 public:
  gzip_source(const open_file& file, std::string_view first) : file_(&file), input_(file, first) {
    if (inflateInit2(&stream_, 16 + MAX_WBITS) != Z_OK) fail("no memory to decompress", ENOMEM);
  }
  ~gzip_source() override { inflateEnd(&stream_); }

  std::size_t read(char* to, std::size_t bytes) override {
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(bytes, 1u << 30));
    const uInt room = stream_.avail_out;
    while (stream_.avail_out == room && !done_) step();
    return room - stream_.avail_out;
  }

 private:
  void step() {
    if (stream_.avail_in == 0) refill();
    if (done_) return;
    const int code = inflate(&stream_, Z_NO_FLUSH);
    if (code == Z_STREAM_END) {
      member_ended_ = true;
      if (stream_.avail_in == 0) refill();
      if (!done_) next_member();
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      fail(code == Z_MEM_ERROR ? "no memory to decompress" : "damaged gzip data",
           code == Z_MEM_ERROR ? ENOMEM : EIO);
    }
  }

  void refill() {
    const std::size_t got = input_.read(chunk_.data(), chunk_.size());
    stream_.next_in = reinterpret_cast<Bytef*>(chunk_.data());
    stream_.avail_in = static_cast<uInt>(got);
    if (got != 0) return;
    if (!member_ended_) fail("truncated gzip data", EIO);
    done_ = true;
  }

  /// Handles the input after a member: another member, or zeros that pad a tape block, which gzip
  /// ignores.
  void next_member() {
    if (*stream_.next_in == 0) {
      done_ = true;
      return;
    }
    member_ended_ = false;
    if (inflateReset(&stream_) != Z_OK) fail("damaged gzip data", EIO);
  }

  [[noreturn]] void fail(const char* why, int code) const {
    throw error(code, file_->name() + ": " + why);
  }

  const open_file* file_;
  plain_source input_;
  z_stream stream_{};
  std::array<char, 64 * 1024> chunk_;
  bool member_ended_ = false;  // and no byte of a next one was read
  bool done_ = false;
};

}  // namespace

std::unique_ptr<byte_source> open_gzip(const open_file& file, std::string_view first) {
  return std::make_unique<gzip_source>(file, first);
}

}  // namespace creek::mapreduce::detail

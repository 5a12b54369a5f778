// SPDX-License-Identifier: Apache-2.0
// Decompresses concatenated gzip members [RFC 1952].
#include <zlib.h>

#include <cerrno>
#include <creek/core/error.hpp>

#include "decoder.hpp"

namespace creek::mapreduce::detail {
namespace {

class gzip_decoder final : public decoder {
 public:
  explicit gzip_decoder(const std::string& file) : file_(file) {
    if (inflateInit2(&stream_, 16 + MAX_WBITS) != Z_OK) fail("no memory to decompress", ENOMEM);
  }
  ~gzip_decoder() override { inflateEnd(&stream_); }

  std::size_t decode(std::string_view& in, char* to, std::size_t room, bool last) override {
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(room);
    while (stream_.avail_out != 0) {
      if (member_ended_ && !next_member(in)) break;
      if (!step(in)) break;
    }
    const std::size_t written = room - stream_.avail_out;
    const bool whole = member_ended_ && first_byte_ == '\0';
    if (last && room != 0 && written == 0 && in.empty() && !whole) {
      fail("truncated gzip data", EIO);
    }
    return written;
  }

  bool at_border() const noexcept override {
    return member_ended_ && first_byte_ == '\0' && !ended_;
  }

 private:
  /// Returns false if more input is needed.
  bool step(std::string_view& in) {
    const auto taken = inflate_some(in);
    in.remove_prefix(taken.bytes);
    if (taken.code == Z_STREAM_END) {
      member_ended_ = true;
    } else if (taken.code == Z_BUF_ERROR) {
      return false;
    } else if (taken.code != Z_OK) {
      const bool memory = taken.code == Z_MEM_ERROR;
      fail(memory ? "no memory to decompress" : "damaged gzip data", memory ? ENOMEM : EIO);
    }
    return true;
  }

  struct progress {
    int code;
    std::size_t bytes;
  };
  progress inflate_some(std::string_view in) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream_.avail_in = static_cast<uInt>(in.size());
    const int code = inflate(&stream_, Z_NO_FLUSH);
    return {code, in.size() - stream_.avail_in};
  }

  /// Begins the next member. Other bytes after a member are ignored, as gunzip does: zeros that pad
  /// a tape block, or garbage of two bytes or more. Returns false if there is no member, or not
  /// yet.
  bool next_member(std::string_view& in) {
    while (!in.empty() && !ended_) {
      const char c = in.front();
      if (first_byte_ == '\0') {
        first_byte_ = c;
        ended_ = c == '\0';
      } else if (first_byte_ != '\x1F' || c != '\x8B') {
        first_byte_ = '\0';
        ended_ = true;
      } else {
        first_byte_ = '\0';
        member_ended_ = false;
        if (inflateReset(&stream_) != Z_OK) fail("damaged gzip data", EIO);
        (void)inflate_some("\x1F");
        return true;
      }
      in.remove_prefix(1);
    }
    if (ended_) in = {};
    return false;
  }

  [[noreturn]] void fail(const char* why, int code) const { throw error(code, file_ + ": " + why); }

  std::string file_;
  z_stream stream_{};
  bool member_ended_ = false;
  char first_byte_ = '\0';  // after the member, if no more was read
  bool ended_ = false;      // the rest is ignored
};

}  // namespace

std::unique_ptr<decoder> open_gzip(const std::string& file) {
  return std::make_unique<gzip_decoder>(file);
}

}  // namespace creek::mapreduce::detail

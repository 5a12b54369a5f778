// SPDX-License-Identifier: Apache-2.0
// Streams: plain bytes, gzip members one after another, and the cutting between records.
#include "text_stream.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <creek/core/error.hpp>
#include <cstring>

namespace creek::mapreduce::detail {
namespace {

constexpr std::size_t magic_bytes = 3;

/// The file, from its first bytes on, which were read to see what it is.
class plain_source final : public byte_source {
 public:
  plain_source(const open_file& file, std::string_view first) : file_(&file), first_(first) {}

  std::size_t read(char* to, std::size_t bytes) override {
    if (first_.empty()) return file_->read(to, bytes);
    const std::size_t n = std::min(bytes, first_.size());
    std::memcpy(to, first_.data(), n);
    first_.erase(0, n);
    return n;
  }

 private:
  const open_file* file_;
  std::string first_;
};

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

  /// Input is left after a member: another member, or zeros that pad a tape block, which gzip
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
  bool member_ended_ = false;  // and no byte of a next one has come
  bool done_ = false;
};

}  // namespace

bool looks_like_gzip(std::string_view first_bytes) noexcept {
  return first_bytes.substr(0, magic_bytes) == "\x1F\x8B\x08";
}

std::unique_ptr<byte_source> open_source(const open_file& file) {
  std::array<char, magic_bytes> first;
  std::size_t n = 0;
  while (n < first.size()) {
    const std::size_t got = file.read(first.data() + n, first.size() - n);
    if (got == 0) break;
    n += got;
  }
  const std::string_view seen(first.data(), n);
  if (looks_like_gzip(seen)) return std::make_unique<gzip_source>(file, seen);
  return std::make_unique<plain_source>(file, seen);
}

std::string_view text_stream::peek(std::size_t bytes) {
  while (!at_end_ && end_ - begin_ < bytes) fill();
  return {buffer_.get() + begin_, std::min(bytes, end_ - begin_)};
}

std::uint64_t text_stream::skip(std::uint64_t bytes) {
  for (std::uint64_t left = bytes;;) {
    const auto here = static_cast<std::size_t>(std::min<std::uint64_t>(left, end_ - begin_));
    begin_ += here;
    left -= here;
    if (left == 0 || at_end_) return bytes - left;
    fill();
  }
}

std::string_view text_stream::next() {
  for (;;) {
    if (at_end_ && begin_ == end_) return {};
    const std::string_view here(buffer_.get() + begin_, end_ - begin_);
    const std::size_t whole = at_end_ ? here.size() : whole_(here);
    if (whole != 0) {
      begin_ += whole;
      return here.substr(0, whole);
    }
    fill();
  }
}

/// Moves the beginning of a record that is not complete to the front and reads on behind it. What
/// is searched for a border again grows with the buffer, which doubles: linear in all.
void text_stream::fill() {
  const std::size_t kept = end_ - begin_;
  if (kept * 2 >= capacity_) {
    const std::size_t capacity = std::max(first_bytes, capacity_ * 2);
    auto larger = std::make_unique_for_overwrite<char[]>(capacity);
    if (kept != 0) std::memcpy(larger.get(), buffer_.get() + begin_, kept);
    buffer_ = std::move(larger);
    capacity_ = capacity;
  } else if (kept != 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, kept);
  }
  begin_ = 0;
  end_ = kept;
  // Full reads, so that a slow pipe does not make the search above start again for each few bytes.
  while (end_ < capacity_) {
    const std::size_t got = source_->read(buffer_.get() + end_, capacity_ - end_);
    if (got == 0) {
      at_end_ = true;
      return;
    }
    end_ += got;
  }
}

}  // namespace creek::mapreduce::detail

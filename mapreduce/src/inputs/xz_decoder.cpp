// SPDX-License-Identifier: Apache-2.0
// Decompresses concatenated xz streams, and skips the padding between and after them. Streams are
// taken apart here, so that their blocks can be decompressed by several decoders.
#include <lzma.h>

#include <algorithm>
#include <cerrno>
#include <creek/core/error.hpp>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "decoder.hpp"

namespace creek::mapreduce::detail {
namespace {

/// The largest preset of the xz tool needs 65 MiB; a header may ask for 4 GiB.
constexpr std::uint64_t max_memory = std::uint64_t{256} << 20;

const std::uint8_t* raw_bytes(std::string_view text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

/// Header of a block.
class block_header {
 public:
  block_header() = default;
  block_header(const block_header&) = delete;
  block_header& operator=(const block_header&) = delete;
  ~block_header() { clear(); }

  /// Reads a whole header. `check`: kind of checksum, from the stream's header.
  lzma_ret read(std::string_view header, lzma_check check) {
    clear();
    block = {};
    block.version = 1;
    block.check = check;
    block.header_size = static_cast<std::uint32_t>(header.size());
    block.filters = filters_;
    const lzma_ret code = lzma_block_header_decode(&block, nullptr, raw_bytes(header));
    if (code != LZMA_OK) filters_[0].id = LZMA_VLI_UNKNOWN;  // the library has freed them
    return code;
  }
  [[nodiscard]] std::uint64_t memory() const { return lzma_raw_decoder_memusage(filters_); }

  lzma_block block{};

 private:
  void clear() {
    for (lzma_filter& one : filters_) {
      if (one.id == LZMA_VLI_UNKNOWN) break;
      std::free(one.options);
    }
    filters_[0].id = LZMA_VLI_UNKNOWN;
  }
  lzma_filter filters_[LZMA_FILTERS_MAX + 1] = {{LZMA_VLI_UNKNOWN, nullptr}};
};

class xz_decoder final : public decoder {
 public:
  explicit xz_decoder(const std::string& file) : file_(file) {}
  /// Begins at a block of a stream with this kind of checksum.
  xz_decoder(const std::string& file, lzma_check check) : file_(file), at_(place::block_header) {
    flags_.check = check;
  }
  ~xz_decoder() override {
    lzma_end(&stream_);
    lzma_index_hash_end(index_, nullptr);
  }

  std::size_t decode(std::string_view& in, char* to, std::size_t room, bool last) override {
    stream_.next_out = reinterpret_cast<std::uint8_t*>(to);
    stream_.avail_out = room;
    while (stream_.avail_out != 0 && step(in)) {
    }
    const std::size_t written = room - stream_.avail_out;
    if (last && room != 0 && written == 0 && in.empty()) {
      if (at_ != place::padding) fail("truncated xz data", EIO);
      if (padding_ % 4 != 0) fail("damaged xz data", EIO);
    }
    return written;
  }

  bool at_border() const noexcept override { return at_ == place::padding && padding_ % 4 == 0; }
  bool at_block(unsigned check) const noexcept override {
    return at_ == place::block_header && head_.empty() &&
           static_cast<unsigned>(flags_.check) == check;
  }
  void absorb(decoder& blocks) override {
    for (const auto& [unpadded, size] : static_cast<xz_decoder&>(blocks).sizes_) {
      append(unpadded, size);
    }
  }

 private:
  enum class place : std::uint8_t { stream_header, block_header, block, index, footer, padding };

  /// Returns false if more input is needed.
  bool step(std::string_view& in) {
    switch (at_) {
      case place::stream_header:
        if (!collect(in, LZMA_STREAM_HEADER_SIZE)) return false;
        check(lzma_stream_header_decode(&flags_, raw_bytes(head_)));
        head_.clear();
        lzma_index_hash_end(std::exchange(index_, nullptr), nullptr);
        sizes_.clear();
        at_ = place::block_header;
        return true;
      case place::block_header:
        return begin_block(in);
      case place::block:
        return read_block(in);
      case place::index:
        return read_index(in);
      case place::footer:
        if (!collect(in, LZMA_STREAM_HEADER_SIZE)) return false;
        check_footer();
        return true;
      case place::padding:
        return next_stream(in);
    }
    return false;
  }

  /// Collects `bytes` bytes in head_. Returns false if there are less. Wrong magic numbers count as
  /// damage at once.
  bool collect(std::string_view& in, std::size_t bytes) {
    const std::size_t taken = std::min(in.size(), bytes - std::min(bytes, head_.size()));
    head_.append(in.substr(0, taken));
    in.remove_prefix(taken);
    if (at_ == place::stream_header) {
      constexpr std::string_view magic("\xFD\x37zXZ\0", 6);
      if (!head_.starts_with(magic.substr(0, head_.size()))) fail("damaged xz data", EIO);
    }
    return head_.size() >= bytes;
  }

  bool begin_block(std::string_view& in) {
    if (!collect(in, 1)) return false;
    if (head_[0] == '\0') {
      at_ = place::index;
      return true;
    }
    if (!collect(in, lzma_block_header_size_decode(static_cast<std::uint8_t>(head_[0])))) {
      return false;
    }
    check(header_.read(head_, flags_.check));
    head_.clear();
    if (header_.memory() > max_memory) {
      fail("xz data needs too much memory to decompress", ENOMEM);
    }
    check(lzma_block_decoder(&stream_, &header_.block));
    at_ = place::block;
    return true;
  }

  bool read_block(std::string_view& in) {
    const std::size_t room = stream_.avail_out, before = in.size();
    stream_.next_in = raw_bytes(in);
    stream_.avail_in = in.size();
    const lzma_ret code = lzma_code(&stream_, LZMA_RUN);
    in.remove_prefix(in.size() - stream_.avail_in);
    if (code == LZMA_BUF_ERROR) return false;  // no progress
    if (code != LZMA_STREAM_END) {
      check(code);
      return in.size() != before || stream_.avail_out != room;
    }
    const std::uint64_t unpadded = lzma_block_unpadded_size(&header_.block);
    sizes_.emplace_back(unpadded, header_.block.uncompressed_size);
    append(unpadded, header_.block.uncompressed_size);
    at_ = place::block_header;
    return true;
  }

  void append(std::uint64_t unpadded, std::uint64_t size) {
    if (index_ == nullptr) begin_index();
    check(lzma_index_hash_append(index_, unpadded, size));
  }

  void begin_index() {
    index_ = lzma_index_hash_init(nullptr, nullptr);
    if (index_ == nullptr) fail("no memory to decompress", ENOMEM);
  }

  bool read_index(std::string_view& in) {
    if (index_ == nullptr) begin_index();
    if (!head_.empty()) {  // its first byte
      std::size_t taken = 0;
      check(lzma_index_hash_decode(index_, raw_bytes(head_), &taken, head_.size()));
      head_.clear();
    }
    if (in.empty()) return false;
    std::size_t taken = 0;
    const lzma_ret code = lzma_index_hash_decode(index_, raw_bytes(in), &taken, in.size());
    in.remove_prefix(taken);
    if (code == LZMA_STREAM_END) {
      at_ = place::footer;
    } else {
      check(code);
    }
    return true;
  }

  void check_footer() {
    lzma_stream_flags footer;
    check(lzma_stream_footer_decode(&footer, raw_bytes(head_)));
    head_.clear();
    check(lzma_stream_flags_compare(&flags_, &footer));
    if (footer.backward_size != lzma_index_hash_size(index_)) fail("damaged xz data", EIO);
    at_ = place::padding;
    padding_ = 0;
  }

  /// Skips zeros, of which there are four or a multiple. Returns false if there is no other stream,
  /// or not yet.
  bool next_stream(std::string_view& in) {
    while (!in.empty() && in.front() == '\0') {
      in.remove_prefix(1);
      ++padding_;
    }
    if (in.empty()) return false;
    if (padding_ % 4 != 0) fail("damaged xz data", EIO);
    at_ = place::stream_header;
    return true;
  }

  void check(lzma_ret code) const {
    if (code == LZMA_OK || code == LZMA_STREAM_END) return;
    const bool memory = code == LZMA_MEM_ERROR;
    fail(memory ? "no memory to decompress" : "damaged xz data", memory ? ENOMEM : EIO);
  }

  [[noreturn]] void fail(const char* why, int code) const { throw error(code, file_ + ": " + why); }

  std::string file_;
  place at_ = place::stream_header;
  std::string head_;  // of a header or footer
  lzma_stream_flags flags_{};
  block_header header_;
  lzma_stream stream_ = LZMA_STREAM_INIT;  // decodes a block
  lzma_index_hash* index_ = nullptr;       // sizes of the stream's blocks, hashed
  std::vector<std::pair<std::uint64_t, std::uint64_t>> sizes_;  // the same that were decoded here
  std::uint64_t padding_ = 0;                                   // bytes after the stream
};

}  // namespace

std::unique_ptr<decoder> open_xz(const std::string& file) {
  return std::make_unique<xz_decoder>(file);
}

std::unique_ptr<decoder> open_xz_blocks(const std::string& file, unsigned check) {
  return std::make_unique<xz_decoder>(file, static_cast<lzma_check>(check));
}

block_ahead xz_block_ahead(std::string_view here, bool at_stream, unsigned& check) {
  std::size_t at = 0;
  if (at_stream) {
    at = LZMA_STREAM_HEADER_SIZE;
    if (here.size() < at) return {at};
    lzma_stream_flags flags;
    if (lzma_stream_header_decode(&flags, raw_bytes(here)) != LZMA_OK) return {};
    check = static_cast<unsigned>(flags.check);
  }
  if (here.size() <= at) return {at + 1};
  if (here[at] == '\0') return {};  // the index
  const std::size_t size = lzma_block_header_size_decode(static_cast<std::uint8_t>(here[at]));
  if (here.size() < at + size) return {at + size};
  block_header header;
  const auto kind = static_cast<lzma_check>(check);
  if (header.read(here.substr(at, size), kind) != LZMA_OK) return {};
  const std::uint64_t text = header.block.uncompressed_size;  // xz -T writes the sizes
  const std::uint64_t total = lzma_block_total_size(&header.block);
  if (text > max_block_text || total == 0 || total > max_block_bytes) return {};
  return {at + static_cast<std::size_t>(total)};
}

}  // namespace creek::mapreduce::detail

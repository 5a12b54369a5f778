// SPDX-License-Identifier: Apache-2.0
// Decompresses concatenated bzip2 streams. Streams are taken apart here, so that their blocks can
// be decompressed by several decoders: the library gets each block as a stream of its own.
//
// A block begins at any bit, behind a mark of 48 bits, and its size is written nowhere. So its end
// is where the next mark is found, of a block or of the stream's end. Such bits may also be inside
// of a block: then the block cannot be decompressed, and goes on to a later mark.
#include <bzlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <creek/core/error.hpp>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "decoder.hpp"

namespace creek::mapreduce::detail {
namespace {

constexpr std::uint64_t block_mark = 0x314159265359, end_mark = 0x177245385090;
constexpr std::size_t mark_bits = 48, checksum_bits = 32, header_bytes = 4;
/// No block is larger: it has at most 900 000 symbols of at most 20 bits, and 22 kB of tables.
constexpr std::size_t max_compressed_block = 2'300'000;
/// Marks at which a block does not end. bzip2 can be made to write five, by text of certain bytes.
constexpr unsigned max_tries = 64;

/// The 64 bits from a byte on, zeros behind the end.
std::uint64_t bits_from(std::string_view bytes, std::size_t at) {
  std::uint64_t value = 0;
  if (at < bytes.size()) {
    std::memcpy(&value, bytes.data() + at, std::min<std::size_t>(bytes.size() - at, 8));
  }
  static_assert(std::endian::native == std::endian::little);
  return __builtin_bswap64(value);
}

/// Returns `count` <= 48 bits from a bit on.
std::uint64_t bits_at(std::string_view bytes, std::size_t bit, std::size_t count) {
  return bits_from(bytes, bit / 8) << bit % 8 >> (64 - count);
}

/// For each value of the second byte of a mark that begins within a byte: bit s is set if a mark
/// that begins at bit s has this second byte.
constexpr std::array<std::uint8_t, 256> second_bytes() {
  std::array<std::uint8_t, 256> at{};
  for (const std::uint64_t mark : {block_mark, end_mark}) {
    for (unsigned s = 0; s < 8; ++s)
      at[(mark >> (32 + s)) & 0xFF] |= static_cast<std::uint8_t>(1u << s);
  }
  return at;
}
constexpr auto shifts_of = second_bytes();

/// Returns the bit at which the first whole mark begins, from `bit` on, or none.
std::optional<std::size_t> find_mark(std::string_view bytes, std::size_t bit) {
  for (std::size_t i = bit / 8; i + 1 < bytes.size(); ++i) {
    unsigned shifts = shifts_of[static_cast<std::uint8_t>(bytes[i + 1])];
    for (; shifts != 0; shifts &= shifts - 1) {
      const std::size_t at = 8 * i + static_cast<unsigned>(std::countr_zero(shifts));
      if (at < bit || at + mark_bits > 8 * bytes.size()) continue;
      const std::uint64_t seen = bits_at(bytes, at, mark_bits);
      if (seen == block_mark || seen == end_mark) return at;
    }
  }
  return std::nullopt;
}

/// Returns whether these bytes are a stream's header, or its begin.
bool begins_stream(std::string_view bytes) {
  constexpr std::string_view magic = "BZh";
  return magic.starts_with(bytes.substr(0, magic.size())) &&
         (bytes.size() < header_bytes || (bytes[3] >= '1' && bytes[3] <= '9'));
}

/// Writes bits behind each other, from the first bit of a byte on.
class bit_writer {
 public:
  explicit bit_writer(std::string& to) : to_(to) { to_.clear(); }

  void add(std::uint64_t value, unsigned bits) {
    for (unsigned left = bits; left != 0;) {
      const unsigned taken = std::min(left, 8u - used_);
      const auto part = static_cast<unsigned>(value >> (left - taken)) & ((1u << taken) - 1);
      if (used_ == 0) to_.push_back('\0');
      to_.back() =
          static_cast<char>(static_cast<unsigned char>(to_.back()) | part << (8 - used_ - taken));
      used_ = (used_ + taken) % 8;
      left -= taken;
    }
  }

  /// Adds the bits from `bit` to `end`, where a byte begins here.
  void add(std::string_view bytes, std::size_t bit, std::size_t end) {
    const std::size_t whole = (end - bit) / 8, at = bit / 8;
    const unsigned shift = bit % 8;
    const std::size_t before = to_.size();
    to_.resize(before + whole);
    const auto* const from = reinterpret_cast<const unsigned char*>(bytes.data()) + at;
    for (std::size_t i = 0; i < whole; ++i) {
      const unsigned next = shift == 0 ? 0 : from[i + 1];
      to_[before + i] = static_cast<char>(from[i] << shift | next >> (8 - shift));
    }
    const std::size_t rest = (end - bit) % 8;
    if (rest != 0) add(bits_at(bytes, end - rest, rest), static_cast<unsigned>(rest));
  }

 private:
  std::string& to_;
  unsigned used_ = 0;  // bits of the last byte; 0: all
};

/// The place behind a block's mark: the size that the stream's header gives, and the bits of the
/// byte in which the mark ends, as a number.
struct block_place {
  unsigned level = 9;
  unsigned bits = 0;
  unsigned value = 0;

  [[nodiscard]] unsigned packed() const { return level << 16 | bits << 8 | value; }
  static block_place of(unsigned packed) {
    return {packed >> 16, packed >> 8 & 0xFF, packed & 0xFF};
  }
  static block_place at(std::string_view bytes, std::size_t bit, unsigned level) {
    const std::size_t bits = (8 - bit % 8) % 8;
    return {level, static_cast<unsigned>(bits),
            bits == 0 ? 0 : static_cast<unsigned>(bits_at(bytes, bit, bits))};
  }
};

class bzip2_decoder final : public decoder {
 public:
  explicit bzip2_decoder(const std::string& file) : file_(file) {}
  /// Begins behind a block's mark.
  bzip2_decoder(const std::string& file, const block_place& from)
      : file_(file), at_(place::block), level_(from.level), from_header_(false) {
    if (from.bits == 0) return;
    raw_.push_back(static_cast<char>(from.value));
    bit_ = searched_ = 8 - from.bits;
  }
  ~bzip2_decoder() override { BZ2_bzDecompressEnd(&stream_); }

  std::size_t decode(std::string_view& in, char* to, std::size_t room, bool last) override {
    stream_.next_out = to;
    stream_.avail_out = static_cast<unsigned>(room);
    while (stream_.avail_out != 0 && (step() || take(in))) {
      if (stream_.avail_out != room && at_ != place::text) break;  // what comes next may be damaged
    }
    const std::size_t written = room - stream_.avail_out;
    if (last && room != 0 && written == 0 && in.empty() && !at_border()) {
      fail(at_ == place::block && rest_is_damaged() ? "damaged bzip2 data" : "truncated bzip2 data",
           EIO);
    }
    return written;
  }

  bool at_border() const noexcept override {
    return at_ == place::header && raw_.empty() && streams_ != 0;
  }
  bool at_block(unsigned context) const noexcept override {
    return at_ == place::block && 8 * raw_.size() - bit_ < 8 &&
           block_place::at(raw_, bit_, level_).packed() == context;
  }
  void absorb(decoder& blocks) override {
    auto& other = static_cast<bzip2_decoder&>(blocks);
    for (const std::uint32_t each : other.checksums_) add_checksum(each);
    at_ = other.at_;
    raw_ = std::move(other.raw_);
    bit_ = other.bit_;
    searched_ = other.searched_;
    tries_ = other.tries_;
    if (other.checksum_of_stream_) end_stream(*other.checksum_of_stream_);
  }

 private:
  enum class place : std::uint8_t { header, mark, block, text, end };

  /// Goes on as far as the bytes at hand allow. Returns false if more are needed.
  bool step() {
    switch (at_) {
      case place::header:
        return read_header();
      case place::mark:
        if (!has(mark_bits)) return false;
        read_mark();
        return true;
      case place::block:
        return find_end();
      case place::text:
        return read_text();
      case place::end:
        if (!has(checksum_bits)) return false;
        read_checksum();
        return true;
    }
    return false;
  }

  /// Takes more bytes. Returns false if there are none.
  bool take(std::string_view& in) {
    constexpr std::size_t most = std::size_t{1} << 18;
    const std::size_t taken = std::min(in.size(), most);
    raw_.append(in.substr(0, taken));
    in.remove_prefix(taken);
    return taken != 0;
  }

  [[nodiscard]] bool has(std::size_t bits) const { return 8 * raw_.size() - bit_ >= bits; }

  bool read_header() {
    if (!begins_stream(raw_)) fail("damaged bzip2 data", EIO);
    if (raw_.size() < header_bytes) return false;
    level_ = static_cast<unsigned>(raw_[3] - '0');
    bit_ = 8 * header_bytes;
    from_header_ = true;
    checksum_ = 0;
    at_ = place::mark;
    return true;
  }

  void read_mark() {
    const std::uint64_t mark = bits_at(raw_, bit_, mark_bits);
    if (mark != block_mark && mark != end_mark) fail("damaged bzip2 data", EIO);
    bit_ += mark_bits;
    searched_ = bit_;
    tries_ = 0;
    at_ = mark == block_mark ? place::block : place::end;
  }

  /// Finds the next mark, and gives the library the block before it.
  bool find_end() {
    const auto found = find_mark(raw_, searched_);
    if (!found) {
      const std::size_t bits = 8 * raw_.size();
      searched_ = std::max(searched_, bits - std::min(bits, mark_bits - 1));
      if (raw_.size() > max_compressed_block) fail("damaged bzip2 data", EIO);
      return false;
    }
    end_ = *found;
    searched_ = end_ + 1;
    if (end_ - bit_ < checksum_bits) return true;
    begin_text();
    at_ = place::text;
    return true;
  }

  void begin_text() {
    const std::uint64_t checksum = bits_at(raw_, bit_, checksum_bits);
    bit_writer to(ready_);
    add_block(to, end_);
    to.add(end_mark, mark_bits);
    to.add(checksum, checksum_bits);  // one block's is that of its stream
    open_stream();
    made_text_ = false;
  }

  /// Adds a stream's header, and the block up to a bit.
  void add_block(bit_writer& to, std::size_t end) const {
    for (const char c : {'B', 'Z', 'h', static_cast<char>('0' + level_)}) {
      to.add(static_cast<unsigned char>(c), 8);
    }
    to.add(block_mark, mark_bits);
    to.add(raw_, bit_, end);
  }

  /// Begins a stream of the library that reads `ready_`; keeps the room for output.
  void open_stream() {
    BZ2_bzDecompressEnd(&stream_);
    bz_stream opened{};
    opened.next_in = ready_.data();
    opened.avail_in = static_cast<unsigned>(ready_.size());
    opened.next_out = stream_.next_out;
    opened.avail_out = stream_.avail_out;
    stream_ = opened;
    if (BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) fail("no memory to decompress", ENOMEM);
  }

  /// At the end of the file, returns whether the library refuses what there is of the block, rather
  /// than needing more.
  bool rest_is_damaged() {
    std::string text(std::size_t{1} << 16, '\0');
    bit_writer to(ready_);
    add_block(to, 8 * raw_.size());
    open_stream();
    for (;;) {
      stream_.next_out = text.data();
      stream_.avail_out = static_cast<unsigned>(text.size());
      if (BZ2_bzDecompress(&stream_) != BZ_OK) return true;
      if (stream_.avail_out != 0) return false;
    }
  }

  bool read_text() {
    const unsigned room = stream_.avail_out;
    const int code = BZ2_bzDecompress(&stream_);
    made_text_ |= stream_.avail_out != room;
    if (code == BZ_MEM_ERROR) fail("no memory to decompress", ENOMEM);
    if (code == BZ_STREAM_END && stream_.avail_in == 0) {
      end_block();
    } else if (code != BZ_OK || (stream_.avail_in == 0 && stream_.avail_out != 0)) {
      if (made_text_ || ++tries_ == max_tries) fail("damaged bzip2 data", EIO);
      at_ = place::block;
    }
    return true;
  }

  void end_block() {
    const auto checksum = static_cast<std::uint32_t>(bits_at(raw_, bit_, checksum_bits));
    add_checksum(checksum);
    if (!from_header_) checksums_.push_back(checksum);
    raw_.erase(0, end_ / 8);
    bit_ = end_ % 8;
    at_ = place::mark;
  }

  void add_checksum(std::uint32_t block) { checksum_ = std::rotl(checksum_, 1) ^ block; }

  void read_checksum() {
    const auto checksum = static_cast<std::uint32_t>(bits_at(raw_, bit_, checksum_bits));
    raw_.erase(0, (bit_ + checksum_bits + 7) / 8);
    bit_ = 0;
    at_ = place::header;
    if (from_header_) {
      end_stream(checksum);
    } else {
      checksum_of_stream_ = checksum;  // for the decoder that absorbs this one
      ++streams_;
    }
  }

  void end_stream(std::uint32_t checksum) {
    if (checksum != checksum_) fail("damaged bzip2 data", EIO);
    ++streams_;
  }

  [[noreturn]] void fail(const char* why, int code) const { throw error(code, file_ + ": " + why); }

  std::string file_;
  place at_ = place::header;
  std::string raw_;           // bytes that are not used up
  std::size_t bit_ = 0;       // of them: where a mark, a block, or the end begins
  std::size_t searched_ = 0;  // the bit up to which no mark was found
  std::size_t end_ = 0;       // of the block that becomes text
  unsigned level_ = 9;        // of the stream: blocks of this many 100 000 bytes
  bool from_header_ = true;   // this decoder began before the stream
  unsigned tries_ = 0;        // marks that do not end the block
  bool made_text_ = false;    // some of the block's text was returned
  std::string ready_;         // the block as a stream
  bz_stream stream_{};
  std::uint32_t checksum_ = 0;            // of the stream's blocks so far
  std::vector<std::uint32_t> checksums_;  // of the blocks, if the stream's begin is not here
  std::optional<std::uint32_t> checksum_of_stream_;  // that is to be checked
  std::uint64_t streams_ = 0;                        // that ended
};

}  // namespace

std::unique_ptr<decoder> open_bzip2(const std::string& file) {
  return std::make_unique<bzip2_decoder>(file);
}

std::unique_ptr<decoder> open_bzip2_blocks(const std::string& file, unsigned context) {
  return std::make_unique<bzip2_decoder>(file, block_place::of(context));
}

block_ahead bzip2_block_ahead(std::string_view here, bool at_stream, unsigned& context) {
  constexpr std::size_t step = std::size_t{1} << 18;
  block_place from = block_place::of(context);
  std::size_t bit = 0;
  if (at_stream) {
    bit = 8 * header_bytes + mark_bits;
    if (8 * here.size() < bit) return {bit / 8};
    if (!begins_stream(here) || bits_at(here, 8 * header_bytes, mark_bits) != block_mark) return {};
    from.level = static_cast<unsigned>(here[3] - '0');
  }
  const auto end = find_mark(here, bit);
  if (!end) {
    return here.size() < max_compressed_block ? block_ahead{here.size() + step} : block_ahead{};
  }
  if (bits_at(here, *end, mark_bits) == end_mark) {
    const std::size_t bytes = (*end + mark_bits + checksum_bits + 7) / 8;
    return {bytes, true};
  }
  const std::size_t behind = *end + mark_bits;
  context = block_place::at(here, behind, from.level).packed();
  return {(behind + 7) / 8};
}

}  // namespace creek::mapreduce::detail

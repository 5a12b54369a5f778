// SPDX-License-Identifier: Apache-2.0
#include "picture_format.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <creek/core/charge.hpp>
#include <cstdlib>
#include <new>
#include <stdexcept>

namespace creek::tool {
namespace {

class ppm_format final : public picture_format {
 public:
  ppm_format(int width, int height) : width_(width), height_(height) {}

  [[nodiscard]] std::string head() const override {
    return fmt::format("P6\n{} {}\n255\n", width_, height_);
  }
  [[nodiscard]] encoded_rows encode(std::string_view rows) const override {
    charge(work::byte_copied, static_cast<std::int64_t>(rows.size()));
    return {std::string(rows), 1, rows.size()};
  }
  [[nodiscard]] std::string tail(const encoded_rows&) const override { return {}; }

 private:
  int width_, height_;
};

std::string four_bytes(std::uint32_t number) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(number >> shift & 0xFF);
  return bytes;
}

std::string chunk(std::string_view name, std::string_view data) {
  std::string body(name);
  body += data;
  const auto sum =
      crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return four_bytes(static_cast<std::uint32_t>(data.size())) + body +
         four_bytes(static_cast<std::uint32_t>(sum));
}

/// The predictor of Paeth (PNG, 9.4): of left, above, above left the one nearest to their plane.
unsigned char paeth(unsigned char left, unsigned char above, unsigned char above_left) {
  const int sum = left + above - above_left;
  const int a = std::abs(sum - left), b = std::abs(sum - above), c = std::abs(sum - above_left);
  if (a <= b && a <= c) return left;
  return b <= c ? above : above_left;
}

/// Compresses to blocks that end at a byte, none of them the last one.
std::string deflated(const std::string& bytes) {
  constexpr int raw = -15, memory_level = 8;
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, raw, memory_level,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  constexpr std::size_t end_of_flush = 16;
  std::string made(deflateBound(&stream, static_cast<uLong>(bytes.size())) + end_of_flush, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(made.data());
  stream.avail_out = static_cast<uInt>(made.size());
  deflate(&stream, Z_SYNC_FLUSH);
  const bool is_whole = stream.avail_in == 0 && stream.avail_out != 0;
  made.resize(made.size() - stream.avail_out);
  deflateEnd(&stream);
  if (!is_whole) throw std::logic_error("zlib: more bytes than deflateBound() says");
  return made;
}

/// PNG (ISO/IEC 15948) of colour type 2. The bands are blocks of one zlib stream [RFC 1950], whose
/// checksum is put together from theirs, as pigz does it.
class png_format final : public picture_format {
 public:
  png_format(int width, int height) : width_(width), height_(height) {}

  [[nodiscard]] std::string head() const override {
    const std::string kind{8, 2, 0, 0, 0};  // bits, colours, methods without a choice
    const std::string stream{0x78, static_cast<char>(0x9C)};
    return "\x89PNG\r\n\x1A\n" +
           chunk("IHDR", four_bytes(static_cast<std::uint32_t>(width_)) +
                             four_bytes(static_cast<std::uint32_t>(height_)) + kind) +
           chunk("IDAT", stream);
  }

  [[nodiscard]] encoded_rows encode(std::string_view rows) const override {
    const std::string bytes = filtered(rows);
    const auto sum =
        adler32(1, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
    encoded_rows made{chunk("IDAT", deflated(bytes)), static_cast<std::uint32_t>(sum),
                      bytes.size()};
    charge(cycles{cycles_per_byte * static_cast<std::int64_t>(rows.size())});
    return made;
  }

  [[nodiscard]] std::string tail(const encoded_rows& all) const override {
    const std::string last_block{3, 0};
    return chunk("IDAT", last_block + four_bytes(all.checksum)) + chunk("IEND", {});
  }

 private:
  /// Returns the rows as differences: the first one from the left, the others by Paeth.
  [[nodiscard]] std::string filtered(std::string_view rows) const {
    const std::size_t width = static_cast<std::size_t>(width_) * 3;
    std::string made;
    made.reserve(rows.size() + rows.size() / width);
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(rows[at]); };
    for (std::size_t first = 0; first < rows.size(); first += width) {
      const bool is_top = first == 0;
      made += static_cast<char>(is_top ? 1 : 4);
      for (std::size_t i = first; i < first + width; ++i) {
        const unsigned char left = i < first + 3 ? 0 : byte(i - 3);
        const unsigned char above = is_top ? 0 : byte(i - width);
        const unsigned char corner = is_top || i < first + 3 ? 0 : byte(i - width - 3);
        made += static_cast<char>(byte(i) - (is_top ? left : paeth(left, above, corner)));
      }
    }
    return made;
  }

  /// An estimate: one cycle per instruction, with memory in L1. Callgrind counts 152
  /// per byte of the demo in this function (docs/raytrace.md).
  static constexpr std::int64_t cycles_per_byte = 152;

  int width_, height_;
};

}  // namespace

void picture_format::add(encoded_rows& all, const encoded_rows& next) {
  all.checksum = static_cast<std::uint32_t>(
      adler32_combine(all.checksum, next.checksum, static_cast<z_off_t>(next.size)));
  all.size += next.size;
}

std::unique_ptr<picture_format> picture_format::ppm(int width, int height) {
  return std::make_unique<ppm_format>(width, height);
}
std::unique_ptr<picture_format> picture_format::png(int width, int height) {
  return std::make_unique<png_format>(width, height);
}

}  // namespace creek::tool

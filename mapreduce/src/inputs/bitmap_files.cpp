// SPDX-License-Identifier: Apache-2.0
// Headers of bitmaps: BITMAPFILEHEADER, then BITMAPINFOHEADER or its versions 4 and 5 (Windows GDI
// reference). Numbers are little-endian.
#include <creek/mapreduce/inputs/bitmap_files.hpp>

#include <fmt/format.h>

#include <creek/core/io/data_fault.hpp>

namespace creek::mapreduce {

namespace {

constexpr std::size_t file_header = 14;

class little_endian {
 public:
  explicit little_endian(std::string_view bytes) : bytes_(bytes) {}
  [[nodiscard]] std::uint32_t four(std::size_t at) const { return two(at) | two(at + 2) << 16; }
  [[nodiscard]] std::uint32_t two(std::size_t at) const { return one(at) | one(at + 1) << 8; }

 private:
  [[nodiscard]] std::uint32_t one(std::size_t at) const {
    return static_cast<unsigned char>(bytes_[at]);
  }
  std::string_view bytes_;
};

void check_kind(const std::string& name, std::string_view head) {
  if (!head.starts_with("BM")) fail(data_fault::malformed, name + ": not a bitmap (BMP)");
  if (head.size() < file_header + 4) {
    fail(data_fault::truncated, name + ": ends within the bitmap's header");
  }
  const std::uint32_t header = little_endian(head).four(file_header);
  if (header != 40 && header != 108 && header != 124) {
    fail(data_fault::unsupported,
         fmt::format("{}: a header of {} bytes, not 40, 108 or 124", name, header));
  }
  if (head.size() < file_header + header) {
    fail(data_fault::truncated, name + ": ends within the bitmap's header");
  }
}

}  // namespace

record_layout bitmap_layout(const std::string& name, std::string_view head) {
  check_kind(name, head);
  const little_endian field(head);
  const std::uint32_t begin = field.four(10), header = field.four(file_header);
  const auto width = static_cast<std::int32_t>(field.four(18));
  const auto height = static_cast<std::int32_t>(field.four(22));  // negative: top-down
  const std::uint32_t planes = field.two(26), bits = field.two(28), compression = field.four(30);
  if (bits != 24) {
    fail(data_fault::unsupported, fmt::format("{}: {} bits a pixel, not 24", name, bits));
  }
  if (compression != 0) {
    fail(data_fault::unsupported, fmt::format("{}: compression {}, not 0", name, compression));
  }
  if (width <= 0 || height == 0 || height == INT32_MIN || planes != 1) {
    fail(data_fault::malformed,
         fmt::format("{}: a bitmap of {} x {} pixels and {} planes", name, width, height, planes));
  }
  if (begin < file_header + header) {
    fail(data_fault::malformed, fmt::format("{}: pixels at byte {}, in the header", name, begin));
  }
  const std::uint64_t used = 3 * static_cast<std::uint64_t>(width), stride = (used + 3) / 4 * 4;
  const auto rows = static_cast<std::uint64_t>(height < 0 ? -height : height);
  return {.begin = begin,
          .end = begin + rows * stride,
          .stride = static_cast<std::size_t>(stride),
          .used = static_cast<std::size_t>(used)};
}

}  // namespace creek::mapreduce

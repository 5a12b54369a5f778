// SPDX-License-Identifier: Apache-2.0
#include "byte_source.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <creek/core/error.hpp>
#include <cstring>

namespace creek::mapreduce::detail {
namespace {

struct format {
  const char* name;
  bool (*begins)(std::string_view first);
  /// Null: creek recognises such data, but does not decompress it.
  std::unique_ptr<byte_source> (*open)(const open_file& file, std::string_view first);
};

bool begins_zstd(std::string_view first) noexcept {
  if (first.starts_with("\x28\xB5\x2F\xFD")) return true;
  // A skippable frame, which pzstd writes first: 0x184D2A50 to 0x184D2A5F.
  return first.size() >= 4 && (first[0] & '\xF0') == '\x50' && first.substr(1, 3) == "\x2A\x4D\x18";
}

/// Checks the head of the first block or of the end, too: a text may begin with "BZh".
bool begins_bzip2(std::string_view first) noexcept {
  return first.size() >= 10 && first.starts_with("BZh") && first[3] >= '1' && first[3] <= '9' &&
         (first.substr(4, 6) == "1AY&SY" || first.substr(4, 6) == "\x17\x72\x45\x38\x50\x90");
}

/// The third byte holds the longest code, of 9 to 16 bits; two of its bits are 0.
bool begins_compress(std::string_view first) noexcept {
  if (first.size() < 3 || !first.starts_with("\x1F\x9D") || (first[2] & 0x60) != 0) return false;
  const int bits = first[2] & 0x1F;
  return bits >= 9 && bits <= 16;
}

template <const auto& Magic>
bool begins(std::string_view first) noexcept {
  return first.starts_with(std::string_view(Magic, sizeof Magic - 1));
}
constexpr char gzip_magic[] = "\x1F\x8B\x08";
constexpr char xz_magic[] = "\xFD\x37zXZ\0";
constexpr char lz4_magic[] = "\x04\x22\x4D\x18";
constexpr char old_lz4_magic[] = "\x02\x21\x4C\x18";
constexpr char lzip_magic[] = "LZIP\x01";
constexpr char lzop_magic[] = "\x89LZO\0\r\n\x1A\n";
constexpr char zip_magic[] = "PK\x03\x04";
constexpr char empty_zip_magic[] = "PK\x05\x06";
constexpr char seven_zip_magic[] = "7z\xBC\xAF\x27\x1C";
constexpr char rar_magic[] = "Rar!\x1A\x07";

constexpr format formats[] = {
    {"gzip", &begins<gzip_magic>, &open_gzip},  {"zstd", &begins_zstd, &open_zstd},
    {"xz", &begins<xz_magic>, &open_xz},        {"bzip2", &begins_bzip2, &open_bzip2},
    {"lz4", &begins<lz4_magic>, nullptr},       {"lz4", &begins<old_lz4_magic>, nullptr},
    {"lzip", &begins<lzip_magic>, nullptr},     {"lzop", &begins<lzop_magic>, nullptr},
    {"compress", &begins_compress, nullptr},    {"zip", &begins<zip_magic>, nullptr},
    {"zip", &begins<empty_zip_magic>, nullptr}, {"7z", &begins<seven_zip_magic>, nullptr},
    {"rar", &begins<rar_magic>, nullptr},
};

const format* format_of(std::string_view first) noexcept {
  const auto found =
      std::ranges::find_if(formats, [&](const format& each) { return each.begins(first); });
  return found != std::ranges::end(formats) ? found : nullptr;
}

}  // namespace

std::size_t plain_source::read(char* to, std::size_t bytes) {
  if (first_.empty()) return file_->read(to, bytes);
  const std::size_t n = std::min(bytes, first_.size());
  std::memcpy(to, first_.data(), n);
  first_.erase(0, n);
  return n;
}

bool is_compressed(std::string_view first_bytes) noexcept {
  return format_of(first_bytes) != nullptr;
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
  const format* const found = format_of(seen);
  if (found == nullptr) return std::make_unique<plain_source>(file, seen);
  if (found->open != nullptr) return found->open(file, seen);
  throw error(ENOTSUP, file.name() + ": " + found->name + " data, which has to be unpacked first");
}

}  // namespace creek::mapreduce::detail

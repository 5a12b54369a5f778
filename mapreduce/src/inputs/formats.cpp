// SPDX-License-Identifier: Apache-2.0
// Compressed files and archives that are recognised.
#include <algorithm>
#include <iterator>

#include "decoder.hpp"

namespace creek::mapreduce::detail {
namespace {

template <const auto& Magic>
constexpr std::string_view bytes_of{Magic, sizeof Magic - 1};
template <const auto& Magic>
bool begins(std::string_view first) noexcept {
  return first.starts_with(bytes_of<Magic>);
}
constexpr char gzip_magic[] = "\x1F\x8B\x08";
constexpr char zstd_magic[] = "\x28\xB5\x2F\xFD";
constexpr char xz_magic[] = "\xFD\x37zXZ\0";
constexpr char bzip2_magic[] = "BZh";
constexpr char lz4_magic[] = "\x04\x22\x4D\x18";
constexpr char old_lz4_magic[] = "\x02\x21\x4C\x18";
constexpr char compress_magic[] = "\x1F\x9D";
constexpr char lzip_magic[] = "LZIP\x01";
constexpr char lzop_magic[] = "\x89LZO\0\r\n\x1A\n";
constexpr char zip_magic[] = "PK\x03\x04";
constexpr char empty_zip_magic[] = "PK\x05\x06";
constexpr char seven_zip_magic[] = "7z\xBC\xAF\x27\x1C";
constexpr char rar_magic[] = "Rar!\x1A\x07";

bool begins_zstd(std::string_view first) noexcept {
  if (first.starts_with(bytes_of<zstd_magic>)) return true;
  // A skippable frame, which pzstd writes first: 0x184D2A50 to 0x184D2A5F.
  return first.size() >= 4 && (first[0] & '\xF0') == '\x50' && first.substr(1, 3) == "\x2A\x4D\x18";
}

/// Checks the head of the first block or of the end, too: a text may begin with "BZh".
bool begins_bzip2(std::string_view first) noexcept {
  return first.size() >= 10 && begins<bzip2_magic>(first) && first[3] >= '1' && first[3] <= '9' &&
         (first.substr(4, 6) == "1AY&SY" || first.substr(4, 6) == "\x17\x72\x45\x38\x50\x90");
}

/// The third byte holds the longest code, of 9 to 16 bits; two of its bits are 0.
bool begins_compress(std::string_view first) noexcept {
  if (first.size() < 3 || !begins<compress_magic>(first) || (first[2] & 0x60) != 0) return false;
  const int bits = first[2] & 0x1F;
  return bits >= 9 && bits <= 16;
}

/// Three bytes are too few within compressed data. The fourth has flags, three of which are unused;
/// the ninth says how the deflater was set, the tenth on which system, up to Acorn RISCOS.
bool begins_gzip_member(std::string_view first) noexcept {
  if (first.size() < 10 || !begins<gzip_magic>(first) || (first[3] & 0xE0) != 0) return false;
  const auto level = static_cast<unsigned char>(first[8]);
  const auto system = static_cast<unsigned char>(first[9]);
  return (level == 0 || level == 2 || level == 4) && (system <= 13 || system == 255);
}

constexpr format formats[] = {
    {"gzip", bytes_of<gzip_magic>, &begins<gzip_magic>, &begins_gzip_member, &open_gzip},
    {"zstd", bytes_of<zstd_magic>, &begins_zstd, &begins<zstd_magic>, &open_zstd},
    {"xz", bytes_of<xz_magic>, &begins<xz_magic>, &begins<xz_magic>, &open_xz, &xz_block_ahead,
     &open_xz_blocks},
    {"bzip2", bytes_of<bzip2_magic>, &begins_bzip2, &begins_bzip2, &open_bzip2, &bzip2_block_ahead,
     &open_bzip2_blocks},
    {"lz4", bytes_of<lz4_magic>, &begins<lz4_magic>, &begins<lz4_magic>, &open_lz4},
    {"lz4", bytes_of<old_lz4_magic>, &begins<old_lz4_magic>, nullptr, nullptr},
    {"lzip", bytes_of<lzip_magic>, &begins<lzip_magic>, nullptr, nullptr},
    {"lzop", bytes_of<lzop_magic>, &begins<lzop_magic>, nullptr, nullptr},
    {"compress", bytes_of<compress_magic>, &begins_compress, nullptr, nullptr},
    {"zip", bytes_of<zip_magic>, &begins<zip_magic>, nullptr, nullptr},
    {"zip", bytes_of<empty_zip_magic>, &begins<empty_zip_magic>, nullptr, nullptr},
    {"7z", bytes_of<seven_zip_magic>, &begins<seven_zip_magic>, nullptr, nullptr},
    {"rar", bytes_of<rar_magic>, &begins<rar_magic>, nullptr, nullptr},
};

}  // namespace

const format* format_of(std::string_view first) noexcept {
  const auto found =
      std::ranges::find_if(formats, [&](const format& each) { return each.begins(first); });
  return found != std::ranges::end(formats) ? found : nullptr;
}

}  // namespace creek::mapreduce::detail

// SPDX-License-Identifier: Apache-2.0
// Formats of compressed files, known by their first bytes, and their decoders.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace creek::mapreduce::detail {

/// Decompresses a file of concatenated members (gzip), frames (Zstandard, lz4) or streams (xz,
/// bzip2), which all are called members here. Its input may be cut anywhere.
class decoder {
 public:
  decoder() = default;
  decoder(const decoder&) = delete;
  decoder& operator=(const decoder&) = delete;
  virtual ~decoder() = default;

  /// Decompresses the front of `in`, which it shortens, into `to`, and returns the bytes written: 0
  /// only if `room` is 0 or all of `in` is used. `last`: the file ends with `in`. Throws
  /// creek::error naming the file for damaged or truncated data, when it reaches the damage; then
  /// the text before it has been returned by earlier calls.
  [[nodiscard]] virtual std::size_t decode(std::string_view& in, char* to, std::size_t room,
                                           bool last) = 0;

  /// Returns whether all input so far is whole members, and the next byte may begin one.
  [[nodiscard]] virtual bool at_border() const noexcept = 0;
  /// Returns whether the next byte may begin a block, in a member with this context.
  [[nodiscard]] virtual bool at_block(unsigned /*context*/) const noexcept { return false; }
  /// Goes on behind the blocks that another decoder, which began at this place, has decompressed.
  virtual void absorb(decoder& /*blocks*/) {}
};

/// The next block of a member, if its size is known.
struct block_ahead {
  std::size_t bytes = 0;  // 0: unknown. If there are less here, this many are needed to know more
  bool ends_member = false;
};
/// Larger blocks are decompressed in order: 24 MiB of text is what `xz -6 -T0` puts into one.
inline constexpr std::size_t max_block_bytes = std::size_t{16} << 20;
inline constexpr std::size_t max_block_text = std::size_t{32} << 20;

struct format {
  const char* name;
  std::string_view magic;  // the first bytes of a member
  /// Returns whether a file may begin with these bytes, or a member within a file.
  bool (*begins)(std::string_view first);
  bool (*begins_member)(std::string_view first);
  /// Null: creek recognises such data, but does not decompress it. `file`: name for messages.
  std::unique_ptr<decoder> (*open)(const std::string& file);
  /// Looks for the block that begins at `here` or, `at_member`, after the member's header. Sets the
  /// context of the next block. Null: the format has no such blocks.
  block_ahead (*next_block)(std::string_view here, bool at_member, unsigned& context) = nullptr;
  std::unique_ptr<decoder> (*open_blocks)(const std::string& file, unsigned context) = nullptr;
};

[[nodiscard]] std::unique_ptr<decoder> open_gzip(const std::string& file);
[[nodiscard]] std::unique_ptr<decoder> open_zstd(const std::string& file);
[[nodiscard]] std::unique_ptr<decoder> open_xz(const std::string& file);
[[nodiscard]] std::unique_ptr<decoder> open_xz_blocks(const std::string& file, unsigned check);
[[nodiscard]] block_ahead xz_block_ahead(std::string_view here, bool at_stream, unsigned& check);
[[nodiscard]] std::unique_ptr<decoder> open_bzip2(const std::string& file);
[[nodiscard]] std::unique_ptr<decoder> open_bzip2_blocks(const std::string& file, unsigned place);
[[nodiscard]] block_ahead bzip2_block_ahead(std::string_view here, bool at_stream, unsigned& place);
[[nodiscard]] std::unique_ptr<decoder> open_lz4(const std::string& file);

/// Returns the format of a file with these first bytes, or nullptr if it is not compressed.
[[nodiscard]] const format* format_of(std::string_view first_bytes) noexcept;

/// Number of bytes that format_of reads.
inline constexpr std::size_t magic_bytes = 10;

}  // namespace creek::mapreduce::detail

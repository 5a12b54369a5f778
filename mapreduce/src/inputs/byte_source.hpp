// SPDX-License-Identifier: Apache-2.0
// Sequential source of a file's bytes, decompressed if they are compressed.
#pragma once

#include <creek/core/io/open_file.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace creek::mapreduce::detail {

/// A source of bytes with the interface of open_file::read.
class byte_source {
 public:
  byte_source() = default;
  byte_source(const byte_source&) = delete;
  byte_source& operator=(const byte_source&) = delete;
  virtual ~byte_source() = default;
  [[nodiscard]] virtual std::size_t read(char* to, std::size_t bytes) = 0;
};

/// The file as it is, starting with its first bytes, which were already read to detect the format.
class plain_source final : public byte_source {
 public:
  plain_source(const open_file& file, std::string_view first) : file_(&file), first_(first) {}
  [[nodiscard]] std::size_t read(char* to, std::size_t bytes) override;

 private:
  const open_file* file_;
  std::string first_;
};

/// Opens data that begins with these bytes: concatenated gzip members [RFC 1952] with its only
/// method, Zstandard frames [RFC 8878], streams of xz or of bzip2. Reading throws creek::error
/// naming the file for damaged or truncated data, when it reaches the damage.
[[nodiscard]] std::unique_ptr<byte_source> open_gzip(const open_file& file, std::string_view first);
[[nodiscard]] std::unique_ptr<byte_source> open_zstd(const open_file& file, std::string_view first);
[[nodiscard]] std::unique_ptr<byte_source> open_xz(const open_file& file, std::string_view first);
[[nodiscard]] std::unique_ptr<byte_source> open_bzip2(const open_file& file,
                                                      std::string_view first);

/// Returns whether open_source decompresses or refuses a file with these first bytes.
[[nodiscard]] bool is_compressed(std::string_view first_bytes) noexcept;

/// Number of bytes that is_compressed reads.
inline constexpr std::size_t magic_bytes = 10;

/// Chooses the source by the first bytes of the file. Throws creek::error naming the format for
/// compressed data and archives that creek does not read.
[[nodiscard]] std::unique_ptr<byte_source> open_source(const open_file& file);

}  // namespace creek::mapreduce::detail

// SPDX-License-Identifier: Apache-2.0
// Cuts the bytes of a file, compressed or not, into claims for the workers that read it.
#pragma once

#include <creek/core/io/open_file.hpp>
#include <cstddef>
#include <string>
#include <string_view>

#include "decoder.hpp"

namespace creek::mapreduce::detail {

/// The place of the bytes of a claim in their file.
struct claimed_bytes {
  bool last = false;           // the file ends with them
  bool begins_member = false;  // of a compressed file; a guess by the first bytes
  bool begins_block = false;
  unsigned context = 0;    // of the block
  bool continues = false;  // what follows goes on with the same member, or the file is plain
};

/// Reads a file from its begin to its end. A claim of a compressed file ends, if it can, where a
/// member or a block begins, so that another worker can decompress what follows. One thread at a
/// time.
class claim_reader {
 public:
  /// Reads the first bytes, which tell the format. Throws creek::error.
  explicit claim_reader(open_file file);

  /// Null for a plain file.
  [[nodiscard]] const format* file_format() const noexcept { return format_; }
  [[nodiscard]] const std::string& name() const noexcept { return file_.name(); }

  /// Reads the next `bytes` of a plain file, fewer only at its end, and stores their number. Throws
  /// creek::error.
  [[nodiscard]] claimed_bytes claim_plain(char* to, std::size_t bytes, std::size_t& size);
  /// Reads the next bytes of a compressed file, about `wanted` unless a member or block ends
  /// elsewhere. Throws creek::error.
  [[nodiscard]] claimed_bytes claim_compressed(std::string& to, std::size_t wanted);

 private:
  [[nodiscard]] std::size_t end_of_blocks(std::size_t wanted, bool& at_member);
  [[nodiscard]] std::size_t end_of_claim(std::size_t wanted, bool& at_member);
  [[nodiscard]] std::size_t next_member(std::string_view here, std::size_t most);
  [[nodiscard]] std::string_view ahead() const {
    return std::string_view(ahead_).substr(ahead_begin_);
  }
  void fill_ahead(std::size_t bytes);
  [[nodiscard]] std::size_t read(char* to, std::size_t bytes);

  open_file file_;
  std::string first_;  // bytes read to detect the format
  const format* format_ = nullptr;
  std::string ahead_;  // compressed bytes that are read and not claimed
  std::size_t ahead_begin_ = 0;
  std::size_t searched_ = 0;  // bytes of them without the begin of a member
  bool at_begin_ = true;      // of the file
  bool at_member_ = true;     // they may begin with one
  bool at_block_ = false;     // they may begin with a block
  unsigned context_ = 0;      // of the block
  bool at_end_ = false;       // nothing is left to read
};

}  // namespace creek::mapreduce::detail

// SPDX-License-Identifier: Apache-2.0
// Shared parts of the fuzz targets: settings taken from the front of the input, files in memory,
// and the messages that are allowed for a refused file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include <creek/tasking/runtime.hpp>

namespace creek::fuzz {

/// A finding of a fuzz target. The library never throws it, so it ends the target.
struct finding : std::logic_error {
  using std::logic_error::logic_error;
};

/// Throws `finding` if `holds` is false.
void expect(bool holds, const std::string& what);

/// Makes choices by the bytes at the front of an input, and holds the rest. Zeros follow its end.
class input {
 public:
  input(const std::uint8_t* data, std::size_t size)
      : left_(reinterpret_cast<const char*>(data), size) {}

  [[nodiscard]] unsigned byte();
  [[nodiscard]] unsigned below(unsigned n) { return byte() % n; }
  /// Chooses by two bytes, the lower one first.
  [[nodiscard]] std::size_t below_wide(std::size_t n);
  /// Chooses the bytes per piece of the rest by two bytes: from 1 to a little more than all, with
  /// at most 64 pieces.
  [[nodiscard]] std::size_t piece_bytes();
  [[nodiscard]] std::string_view rest() const { return left_; }

 private:
  std::string_view left_;
};

/// A regular file in memory, with a name that the whole process can open.
class memory_file {
 public:
  explicit memory_file(std::string_view content);
  ~memory_file();
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  int descriptor_;
  std::string name_;
};

/// Returns a runtime of one worker, or of three, which lives as long as the process.
[[nodiscard]] runtime& workers(bool several);

/// The reason why a file was refused.
struct refusal {
  std::error_code code;
  std::string why;  ///< text after the name of the file

  /// Returns the number in "NAME:LINE: why", or 0.
  [[nodiscard]] std::uint64_t line() const;
  /// Returns N in "column N", or 0.
  [[nodiscard]] std::size_t column() const;
};

/// Calls `f`, which may throw creek::error that names `file` in one printable line. Any other
/// exception, and any other text, is a finding.
[[nodiscard]] std::optional<refusal> refusal_of(const std::string& file,
                                                const std::function<void()>& f);

/// Returns true if MapReduce treats this text as a compressed one or an archive; compressed.cpp
/// tests those further.
[[nodiscard]] bool looks_compressed(std::string_view text);

}  // namespace creek::fuzz

/// Runs one input for libFuzzer. Returns 0, or -1 for an input not worth keeping.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

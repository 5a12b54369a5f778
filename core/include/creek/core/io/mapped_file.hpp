// SPDX-License-Identifier: Apache-2.0
// Read-only mapping of a file that survives truncation by another process.
#pragma once

#include <creek/core/io/open_file.hpp>
#include <cstddef>
#include <string_view>

namespace creek {

namespace detail {
struct guarded_range;
}

/// Read-only mapping. If the file shrinks while it is read, the missing pages read as zeros and
/// `lost()` returns true, instead of SIGBUS ending the process: while mappings exist, a
/// process-wide handler of that signal maps zero pages over missing pages of these mappings and
/// passes every other SIGBUS to the previous handler (see README.md). Movable; one thread maps and
/// unmaps, any thread may read.
class mapped_file {
 public:
  mapped_file() = default;
  /// Maps the first `bytes` bytes of `file`. Throws creek::error naming it.
  mapped_file(const open_file& file, std::size_t bytes);
  mapped_file(mapped_file&& other) noexcept;
  mapped_file& operator=(mapped_file&& other) noexcept;
  ~mapped_file();

  [[nodiscard]] std::string_view text() const noexcept { return text_; }

  /// Returns whether some page was missing when it was read. Any thread; data read before it
  /// returned false was really in the file.
  [[nodiscard]] bool lost() const noexcept;

  /// Asks the system to load `piece` (a part of text()) in one step instead of page by page.
  void populate(std::string_view piece) const noexcept;

 private:
  std::string_view text_;
  detail::guarded_range* guard_ = nullptr;
};

}  // namespace creek

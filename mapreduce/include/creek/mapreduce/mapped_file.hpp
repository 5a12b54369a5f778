// SPDX-License-Identifier: Apache-2.0
// A file mapped for reading that survives being cut short by somebody else.
#pragma once

#include <creek/mapreduce/open_file.hpp>
#include <cstddef>
#include <string_view>

namespace creek::mapreduce {

namespace detail {
struct guarded_range;
}

/// A read-only mapping. If the file shrinks while it is read, the missing pages read as zeros and
/// `lost()` says so, instead of SIGBUS ending the process: while mappings exist, a process-wide
/// handler of that signal puts zero pages over missing pages of these mappings and hands every
/// other SIGBUS to the handler that was there before (see README.md). Movable; one thread maps and
/// unmaps, any may read.
class mapped_file {
 public:
  mapped_file() = default;
  /// Maps the first `bytes` bytes of `file`. Throws creek::error naming it.
  mapped_file(const open_file& file, std::size_t bytes);
  mapped_file(mapped_file&& other) noexcept;
  mapped_file& operator=(mapped_file&& other) noexcept;
  ~mapped_file();

  [[nodiscard]] std::string_view text() const noexcept { return text_; }

  /// True if some page was missing when it was read. Any thread; what was read before a `false`
  /// was really in the file.
  [[nodiscard]] bool lost() const noexcept;

  /// Asks the system to bring `piece` (a part of text()) in one step rather than fault by fault.
  void populate(std::string_view piece) const noexcept;

 private:
  std::string_view text_;
  detail::guarded_range* guard_ = nullptr;
};

}  // namespace creek::mapreduce

// SPDX-License-Identifier: Apache-2.0
// Binary files of records of a fixed size as the input of a run.
#pragma once

#include <creek/mapreduce/inputs/files.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace creek::mapreduce {

/// Consecutive elements, and their position in the input.
template <class T>
struct record_span : std::span<const T> {
  origin from;
  const text_files* files;

  [[nodiscard]] const std::string& file_name() const { return files->name(from.file); }
};

/// Elements of files that contain nothing else, in this machine's byte order; `map` and `fill` get
/// spans of them, in the mapping itself if a file is mapped. Finds and reads files like text_files,
/// including compressed files and standard input. A file that ends within a record ends the run
/// with an error that names it.
template <class T>
class fixed_records {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= alignof(std::max_align_t));

 public:
  using split_type = record_span<T>;

  /// A record is `elements` elements of type T; no split cuts it. Throws like text_files.
  explicit fixed_records(const std::vector<std::string>& names, std::size_t elements = 1,
                         text_files::settings chosen = {})
      : files_(names, with_layout(std::move(chosen), elements * sizeof(T))) {}

  [[nodiscard]] std::size_t splits() const noexcept { return files_.splits(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return files_.bytes(); }
  /// Calls `f(record_span<T>)` with one or more records at a time.
  template <class F>
  void visit(std::size_t i, F&& f) {
    files_.visit(i, as_records(f));
  }
  /// Does the same by text_files::visit_alone.
  template <class F>
  void visit_alone(std::size_t i, F&& f) {
    files_.visit_alone(i, as_records(f));
  }
  /// Returns the files found, for reports.
  [[nodiscard]] const text_files& files() const noexcept { return files_; }

 private:
  template <class F>
  auto as_records(F& f) const {
    return [this, &f](const text_split& split) {
      const auto* const first = reinterpret_cast<const T*>(split.text.data());
      f(record_span<T>{{first, split.text.size() / sizeof(T)}, split.from, &files_});
    };
  }
  static text_files::settings with_layout(text_files::settings chosen, std::size_t bytes) {
    chosen.layout = [bytes](const std::string&, std::string_view) {
      return record_layout{.stride = bytes, .used = bytes};
    };
    return chosen;
  }

  text_files files_;
};

}  // namespace creek::mapreduce

// SPDX-License-Identifier: Apache-2.0
// Binary files of records of a fixed size as the input of a run.
#pragma once

#include <creek/mapreduce/files.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace creek::mapreduce {

/// Some elements, and where they are from.
template <class T>
struct record_span : std::span<const T> {
  origin from;
  const text_files* files;

  [[nodiscard]] const std::string& file_name() const { return files->name(from.file); }
};

/// The elements of files that hold nothing else, in the byte order of this machine; `map` and
/// `fill` get spans of them, in the mapping itself where a file is mapped. Files are found and read
/// as text_files does it, compressed and standard input included. A file that ends within a record
/// ends the run with an error naming it.
template <class T>
class fixed_records {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= alignof(std::max_align_t));

 public:
  using split_type = record_span<T>;

  /// `elements` of type T make a record, which no split cuts. Throws as text_files does.
  explicit fixed_records(const std::vector<std::string>& names, std::size_t elements = 1,
                         text_files::settings chosen = {})
      : files_(names, with_layout(std::move(chosen), elements * sizeof(T))) {}

  [[nodiscard]] std::size_t splits() const noexcept { return files_.splits(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return files_.bytes(); }
  /// Calls `f(record_span<T>)`.
  template <class F>
  void visit(std::size_t i, F&& f) {
    files_.visit(i, [this, &f](const text_split& split) {
      const auto* const first = reinterpret_cast<const T*>(split.text.data());
      f(record_span<T>{{first, split.text.size() / sizeof(T)}, split.from, &files_});
    });
  }
  /// Returns the files found, for reports.
  [[nodiscard]] const text_files& files() const noexcept { return files_; }

 private:
  static text_files::settings with_layout(text_files::settings chosen, std::size_t bytes) {
    chosen.layout = [bytes](const std::string&, std::string_view) {
      return record_layout{.stride = bytes, .used = bytes};
    };
    return chosen;
  }

  text_files files_;
};

}  // namespace creek::mapreduce

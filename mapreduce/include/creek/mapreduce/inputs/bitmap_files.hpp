// SPDX-License-Identifier: Apache-2.0
// Bitmap (BMP) image files with 24 bits per pixel as the input of a run.
#pragma once

#include <creek/mapreduce/inputs/files.hpp>
#include <creek/mapreduce/jobs/colour_histogram.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace creek::mapreduce {

/// Returns the layout of a bitmap's rows from the first bytes of its file: uncompressed, 24 bits
/// per pixel, information headers of 40, 108 or 124 bytes, rows bottom-up or top-down, padded to
/// four bytes. Throws creek::error that names the file and the unsupported property. The caller has
/// to check that the file has all rows.
[[nodiscard]] record_layout bitmap_layout(const std::string& name, std::string_view head);

/// Rows of bitmaps, read from the mapping itself if a file is mapped; `fill` gets pixel_rows, whose
/// colours are blue, green, red. Finds and reads files like text_files, including compressed files
/// and standard input; in a directory every file must be a bitmap.
class bitmap_files {
 public:
  using split_type = pixel_rows;

  /// Throws like text_files and bitmap_layout, and for truncated images; for files that are not
  /// mapped, `visit` throws instead.
  explicit bitmap_files(const std::vector<std::string>& names, text_files::settings chosen = {})
      : files_(names, with_layout(std::move(chosen))) {}

  [[nodiscard]] std::size_t splits() const noexcept { return files_.splits(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return files_.bytes(); }
  /// Calls `f(pixel_rows)`.
  template <class F>
  void visit(std::size_t i, F&& f) {
    files_.visit(i, as_rows(f));
  }
  /// Does the same by text_files::visit_alone.
  template <class F>
  void visit_alone(std::size_t i, F&& f) {
    files_.visit_alone(i, as_rows(f));
  }
  /// Returns the files found, for reports.
  [[nodiscard]] const text_files& files() const noexcept { return files_; }

 private:
  template <class F>
  auto as_rows(F& f) const {
    return [this, &f](const text_split& split) {
      const record_layout& rows = files_.layout(split);
      f(pixel_rows(reinterpret_cast<const pixel*>(split.text.data()), rows.used / sizeof(pixel),
                   split.text.size() / rows.stride, rows.stride));
    };
  }
  static text_files::settings with_layout(text_files::settings chosen) {
    chosen.layout = bitmap_layout;
    return chosen;
  }

  text_files files_;
};

}  // namespace creek::mapreduce

// SPDX-License-Identifier: Apache-2.0
// Number of pixels per value of each colour of an image: a job that fills an array (dense.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <creek/mapreduce/engine/split_source.hpp>

namespace creek::mapreduce {

/// Three colour bytes in the order of the image: red, green, blue, or the reverse in bitmaps.
struct pixel {
  std::array<std::uint8_t, 3> colour;
};
static_assert(sizeof(pixel) == 3 && alignof(pixel) == 1);

/// Rows of pixels, `stride` bytes apart; stride is at least the bytes of a row's pixels.
class pixel_rows {
 public:
  /// A single row.
  pixel_rows(std::span<const pixel> pixels)  // NOLINT: an array of pixels is one
      : pixel_rows(pixels.data(), pixels.size(), 1, pixels.size_bytes()) {}
  pixel_rows(const pixel* first, std::size_t width, std::size_t rows, std::size_t stride)
      : first_(first), width_(width), rows_(rows), stride_(stride) {
    if (stride == width * sizeof(pixel)) {  // without padding all rows are one long row
      width_ = width * rows;
      rows_ = 1;
      stride_ = width_ * sizeof(pixel);
    }
  }

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::span<const pixel> operator[](std::size_t row) const {
    return {reinterpret_cast<const pixel*>(reinterpret_cast<const char*>(first_) + row * stride_),
            width_};
  }
  /// Returns the bytes of the pixels, without padding between rows.
  [[nodiscard]] std::size_t size_bytes() const { return rows_ * width_ * sizeof(pixel); }

 private:
  const pixel* first_;
  std::size_t width_;
  std::size_t rows_;
  std::size_t stride_;
};

/// Adds to counts[256 * c + v] the number of pixels with value v in colour c. Reads exactly the
/// pixels; any thread. A byte takes about a cycle: additions go to several copies of the array in
/// turn, so that an addition seldom waits for the one before.
void count_colours(pixel_rows pixels, std::span<std::uint64_t, 768> counts) noexcept;

/// The job; its keys are 256 * c + v for colour c and value v.
struct colour_histogram {
  using key_type = std::uint16_t;
  using value_type = std::uint64_t;
  using split_type = pixel_rows;
  static constexpr std::size_t dense_keys = 768;

  static void fill(pixel_rows pixels, std::span<std::uint64_t> into) noexcept {
    count_colours(pixels, into.first<dense_keys>());
  }
  static void combine(std::uint64_t& into, std::uint64_t from) noexcept { into += from; }
};

// Compiled in colour_histogram_run.cpp.
extern template result<colour_histogram> detail::run_source(const colour_histogram&,
                                                            split_source<pixel_rows>,
                                                            const options&);

}  // namespace creek::mapreduce

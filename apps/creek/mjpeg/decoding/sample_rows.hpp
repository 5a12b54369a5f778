// SPDX-License-Identifier: Apache-2.0
// The samples of one component, a few rows of them at a time, and their upsampling.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "header.hpp"

namespace creek::mjpeg {

/// How a component's samples lie in an image.
struct sampling {
  std::size_t across, down;   ///< pixels per sample
  std::size_t width, height;  ///< samples that the image has
};

/// Keeps the rows of the last three rows of MCUs: those that a row of MCUs needs for upsampling.
class sample_rows {
 public:
  /// `mcus`: MCUs in a row.
  sample_rows(const component& of, sampling how, std::size_t mcus);

  /// Returns where a block's samples begin; its rows are stride() bytes apart. `row` and `column`
  /// count blocks of this component.
  [[nodiscard]] std::uint8_t* block(std::size_t row, std::size_t column) {
    return rows_.data() + (8 * row) % kept_ * stride_ + 8 * column;
  }
  [[nodiscard]] std::size_t stride() const { return stride_; }

  /// Returns the samples of a row of pixels. Three quarters of a sample are the nearer one and one
  /// the farther one, in each direction that has two pixels a sample, as libjpeg's "fancy
  /// upsampling" does; samples are repeated for other ratios, and in rows of two samples.
  /// Valid until the next call.
  [[nodiscard]] std::span<const std::uint8_t> pixels(std::size_t y);

 private:
  [[nodiscard]] const std::uint8_t* row(std::size_t y) const {
    return rows_.data() + y % kept_ * stride_;
  }
  /// Returns the row of samples next to row `y / 2`, on the side on which the row of pixels lies.
  [[nodiscard]] const std::uint8_t* other_row(std::size_t y) const;
  void widen(const std::uint8_t* from);
  void widen(const std::uint8_t* from, const std::uint8_t* other);
  void heighten(const std::uint8_t* from, const std::uint8_t* other, unsigned bias);
  void repeat(const std::uint8_t* from);

  sampling how_;
  std::size_t stride_, kept_;
  std::vector<std::uint8_t> rows_;
  std::vector<std::uint8_t> upsampled_;
};

}  // namespace creek::mjpeg

// SPDX-License-Identifier: Apache-2.0
// How often each value of each colour occurs in an image: a job that fills an array (dense.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace creek::mapreduce {

/// Three bytes of colour, in the order of the image: red, green, blue, or the other way in bitmaps.
struct pixel {
  std::array<std::uint8_t, 3> colour;
};
static_assert(sizeof(pixel) == 3 && alignof(pixel) == 1);

/// Adds to counts[256 * c + v] how many pixels have value v in their colour c. Reads exactly the
/// pixels; any thread. A byte takes about a cycle: an addition to one of several copies of the
/// array, so that an addition seldom waits for the one before.
void count_colours(std::span<const pixel> pixels, std::span<std::uint64_t, 768> counts) noexcept;

/// The job; key 256 * c + v.
struct colour_histogram {
  using key_type = std::uint16_t;
  using value_type = std::uint64_t;
  static constexpr std::size_t dense_keys = 768;

  static void fill(std::span<const pixel> pixels, std::span<std::uint64_t> into) noexcept {
    count_colours(pixels, into.first<dense_keys>());
  }
  static void combine(std::uint64_t& into, std::uint64_t from) noexcept { into += from; }
};

}  // namespace creek::mapreduce

// SPDX-License-Identifier: Apache-2.0
// The header of a baseline JPEG image: all that comes before its entropy-coded data [ITU T.81, B].
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace creek::mjpeg {

enum class colours : std::uint8_t { grey, ycc, rgb };

struct component {
  unsigned id = 0;
  unsigned across = 1, down = 1;  ///< sampling factors, 1 to 4
  unsigned quantisation = 0;      ///< number of its table
  unsigned dc = 0, ac = 0;        ///< numbers of its Huffman tables
};

/// The numbers of codes of each length, 1 to 16 bits, and the symbols in the order of the codes.
struct huffman_spec {
  std::array<std::uint8_t, 16> counts{};
  std::array<std::uint8_t, 256> symbols{};
};

struct jpeg_header {
  unsigned width = 0, height = 0;
  unsigned components = 0;  ///< 1 or 3
  std::array<component, 3> component_at{};
  colours colour = colours::ycc;
  unsigned restart_interval = 0;                                ///< in MCUs; 0: none
  std::array<std::array<std::uint16_t, 64>, 4> quantisation{};  ///< in zigzag order
  std::array<bool, 4> has_quantisation{};
  std::array<huffman_spec, 4> dc{}, ac{};
  std::array<bool, 4> has_dc{}, has_ac{};
  std::size_t data = 0;  ///< where the entropy-coded data begins
};

/// Reads the header of an image that begins with SOI. Huffman tables 0 and 1 that are missing are
/// those of [ITU T.81, K.3], as frames of AVI files expect. Throws damaged_frame if the header is
/// damaged, or not that of a baseline image of 8 bits, of one or three components in a single scan;
/// or if the image has more than `max_pixels`.
[[nodiscard]] jpeg_header read_header(std::string_view jpeg, std::uint64_t max_pixels);

/// Sets the tables of [ITU T.81, K.3] as tables 0 (luminance) and 1 (chrominance).
void set_standard_tables(jpeg_header& header);

}  // namespace creek::mjpeg

// SPDX-License-Identifier: Apache-2.0
// Decodes a frame and takes its checksum.
#pragma once

#include <cstdint>
#include <string>

#include "container/frame_splitter.hpp"

namespace creek::mjpeg {

struct decoded_frame {
  std::uint64_t number = 0;
  unsigned width = 0, height = 0;
  std::uint32_t checksum = 0;  ///< CRC-32 of the bytes red, green, blue, from the top left
  std::string picture;         ///< the frame as PPM, if asked for
  std::string fault;           ///< why there is no frame
  [[nodiscard]] std::size_t transfer_bytes() const noexcept {
    return sizeof *this + picture.size();
  }
};

struct decoding_options {
  bool use_library = true;
  bool make_picture = false;
  std::uint64_t max_pixels = 0;
};

/// Never throws damaged_frame: the result has the fault.
[[nodiscard]] decoded_frame decode(const raw_frame& from, const decoding_options& how);

}  // namespace creek::mjpeg

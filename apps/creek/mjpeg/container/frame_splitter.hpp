// SPDX-License-Identifier: Apache-2.0
// Splits a file of Motion JPEG into frames, reading it once from the front.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "input_bytes.hpp"

namespace creek::mjpeg {

/// Thrown for an input that is no video of this kind; what() says why.
struct no_video : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A frame as the file has it.
struct raw_frame {
  std::uint64_t number = 0;  ///< from 0, damaged frames among them
  std::string jpeg;
  std::string fault;  ///< why it cannot be decoded, if that is known already
  [[nodiscard]] std::size_t transfer_bytes() const noexcept { return sizeof *this + jpeg.size(); }
};

class frame_splitter {
 public:
  virtual ~frame_splitter() = default;
  frame_splitter(const frame_splitter&) = delete;
  frame_splitter& operator=(const frame_splitter&) = delete;

  /// Returns the next frame, or nothing at the end. Throws no_video if the file turns out to have
  /// none of this kind, and what reading throws.
  [[nodiscard]] virtual std::optional<raw_frame> next() = 0;

 protected:
  frame_splitter() = default;
};

/// Looks at the first bytes for the kind of file: AVI, or JPEG images that follow each other.
/// Frames of more than `max_frame_bytes` have a fault and no bytes. Throws no_video for any other
/// kind, and what reading throws.
[[nodiscard]] std::unique_ptr<frame_splitter> split_frames(read_function read,
                                                           std::size_t max_frame_bytes);

/// Splits the frames of the first video stream of an AVI file [AVI RIFF], [OpenDML 1996]. It needs
/// no index: it takes the chunks of the stream in their order.
[[nodiscard]] std::unique_ptr<frame_splitter> split_avi(input_bytes from,
                                                        std::size_t max_frame_bytes);
/// Splits JPEG images [ITU T.81, B] with padding or text between them, or none.
[[nodiscard]] std::unique_ptr<frame_splitter> split_joined(input_bytes from,
                                                           std::size_t max_frame_bytes);

}  // namespace creek::mjpeg

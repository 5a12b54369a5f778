// SPDX-License-Identifier: Apache-2.0
// Motion JPEG: a file is split into frames that are not larger than it, and each frame is decoded
// whole or has a fault; or the file is refused as no video.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "harness.hpp"
#include "mjpeg/container/frame_splitter.hpp"
#include "mjpeg/frame_work.hpp"

namespace creek::fuzz {
namespace {

/// Decodes a frame by both decoders.
void decode_both(const mjpeg::raw_frame& frame) {
  constexpr std::uint64_t max_pixels = 1 << 14;
  for (const bool use_library : {false, true}) {
    const mjpeg::decoded_frame made = mjpeg::decode(
        frame, {.use_library = use_library, .make_picture = true, .max_pixels = max_pixels});
    expect(made.fault.empty() != made.picture.empty(), "a picture with a fault, or neither");
    if (made.fault.empty()) {
      const std::uint64_t pixels = std::uint64_t{made.width} * made.height;
      expect(pixels != 0 && pixels <= max_pixels, "a size that is not allowed");
      expect(made.picture.size() > 3 * pixels && made.picture.size() < 3 * pixels + 20,
             "a picture of another size");
    }
  }
}

/// Gives the file in pieces of at most `piece` bytes.
mjpeg::read_function pieces_of(std::string_view& left, std::size_t piece) {
  return [&left, piece](char* to, std::size_t bytes) {
    const std::size_t count = std::min({bytes, piece, left.size()});
    std::memcpy(to, left.data(), count);
    left.remove_prefix(count);
    return count;
  };
}

}  // namespace
}  // namespace creek::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace creek::fuzz;
  input from(data, size);
  const std::size_t piece = from.piece_bytes();
  const std::size_t max_frame_bytes = 1 + from.below_wide(1 << 15);
  std::string_view left = from.rest();
  std::size_t bytes = 0;
  std::uint64_t number = 0;
  try {
    const auto frames = creek::mjpeg::split_frames(pieces_of(left, piece), max_frame_bytes);
    while (const auto frame = frames->next()) {
      expect(frame->number == number++, "a frame with another number");
      expect(frame->jpeg.size() <= max_frame_bytes, "a frame that is too large");
      bytes += frame->jpeg.size();
      decode_both(*frame);
    }
  } catch (const creek::mjpeg::no_video& why) {
    expect(*why.what() != '\0', "refused without a reason");
    return number == 0 ? -1 : 0;
  }
  expect(bytes <= from.rest().size(), "more bytes in frames than in the file");
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "frame_splitter.hpp"

#include <utility>

namespace creek::mjpeg {

std::unique_ptr<frame_splitter> split_frames(read_function read, std::size_t max_frame_bytes) {
  input_bytes from(std::move(read));
  const std::string_view head = from.ahead(12);
  if (head.empty()) throw no_video("is empty");
  if (head.starts_with("\xFF\xD8")) return split_joined(std::move(from), max_frame_bytes);
  if (head.starts_with("RIFF") && head.substr(8).starts_with("AVI "))
    return split_avi(std::move(from), max_frame_bytes);
  throw no_video("is neither an AVI file nor JPEG images");
}

}  // namespace creek::mjpeg

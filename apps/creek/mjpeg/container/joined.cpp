// SPDX-License-Identifier: Apache-2.0
// JPEG images that follow each other: each begins with SOI and ends with EOI, or where the next one
// begins. Segments are skipped by their length, as they may have images inside (thumbnails).
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "frame_splitter.hpp"

namespace creek::mjpeg {
namespace {

constexpr unsigned image_begin = 0xD8, image_end = 0xD9;

/// Whether a segment with this marker may follow entropy-coded data: other markers there are
/// damage, whose length means nothing.
bool may_follow_data(unsigned code) {
  return code == 0xC4 || code == 0xDA || code == 0xDB || code == 0xDD || code == 0xFE;
}
/// Whether a segment is a program's own (APPn), or a comment.
bool may_have_image(unsigned code) {
  return code >= 0xE0;
}
bool has_segment(unsigned code) {
  return code >= 0xC0 && (code < 0xD0 || code > image_end) && code != 0xFF;
}

class joined_splitter final : public frame_splitter {
 public:
  joined_splitter(input_bytes from, std::size_t max_frame_bytes)
      : from_(std::move(from)), max_frame_bytes_(max_frame_bytes) {}

  std::optional<raw_frame> next() override {
    if (!find_image()) {
      if (lost_ == 0) return std::nullopt;
    }
    frame_ = {number_++, {}, {}};
    if (lost_ != 0) {
      frame_.fault = fmt::format("{} bytes that are no JPEG image", std::exchange(lost_, 0));
    } else {
      collect();
    }
    return std::move(frame_);
  }

 private:
  /// Skips what is between two images. Returns false at the end.
  bool find_image() {
    for (;;) {
      const std::string_view ahead = from_.ahead(2);
      if (ahead.starts_with("\xFF\xD8")) return true;
      if (ahead.empty()) return false;
      const auto byte = static_cast<unsigned char>(ahead.front());
      const bool is_filler = byte == 0 || byte == 0xFF || (byte >= 9 && byte < 0x7F);
      lost_ += is_filler && lost_ == 0 ? 0 : 1;
      from_.drop(1);
    }
  }

  /// Appends an image, from SOI to EOI.
  void collect() {
    append(2);
    bool in_data = false;
    for (;;) {
      const std::string_view ahead = from_.ahead(4);
      if (ahead.size() < 2) return append(ahead.size());
      const auto code = static_cast<unsigned char>(ahead[1]);
      if (ahead[0] != '\xFF') {
        in_data = true;  // in a header this is damage: look for its end
        append_data(ahead);
      } else if (code == image_begin) {
        return;  // this one has no end
      } else if (code == image_end) {
        return append(2);
      } else if (has_segment(code) && (!in_data || may_follow_data(code))) {
        append_segment(ahead);
        in_data = in_data || code == 0xDA;
      } else {
        append(code == 0xFF ? 1 : 2);
      }
    }
  }
  void append_data(std::string_view ahead) { append(std::min(ahead.find('\xFF'), ahead.size())); }
  void append_segment(std::string_view ahead) {
    if (ahead.size() < 4) return append(ahead.size());
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(ahead[at]); };
    const unsigned code = byte(1);
    const std::size_t size = 2 + byte(2) * 256u + byte(3);
    // A table with an image in it was cut off where the image begins.
    const std::string_view segment = from_.ahead(size).substr(0, size);
    append(may_have_image(code) ? size : std::min(segment.find("\xFF\xD8\xFF"), size));
  }
  void append(std::size_t bytes) {
    from_.take(bytes, [this](std::string_view piece) {
      if (!frame_.fault.empty()) return;
      if (frame_.jpeg.size() + piece.size() > max_frame_bytes_) {
        frame_.fault = fmt::format("more than {} bytes", max_frame_bytes_);
        frame_.jpeg = {};
      } else {
        frame_.jpeg.append(piece);
      }
    });
  }

  input_bytes from_;
  std::size_t max_frame_bytes_;
  std::uint64_t number_ = 0;
  std::uint64_t lost_ = 0;  // bytes before the next image that are neither filler nor text
  raw_frame frame_;
};

}  // namespace

std::unique_ptr<frame_splitter> split_joined(input_bytes from, std::size_t max_frame_bytes) {
  return std::make_unique<joined_splitter>(std::move(from), max_frame_bytes);
}

}  // namespace creek::mjpeg

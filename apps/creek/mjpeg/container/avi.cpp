// SPDX-License-Identifier: Apache-2.0
// AVI: chunks of four letters and a size, some of which have chunks inside. Lists are entered
// without regard to their size, so files whose writer was interrupted, or that are larger than
// their sizes can say, are read as far as their chunks go.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "frame_splitter.hpp"

namespace creek::mjpeg {
namespace {

struct chunk {
  std::string name;
  std::uint32_t bytes = 0;
  std::uint64_t offset = 0;
};

bool is_printable(char c) {
  return c >= ' ' && c <= '~';
}

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- != 0;)
    value = value * 256 + static_cast<unsigned char>(bytes[at + i]);
  return value;
}

bool is_motion_jpeg(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return name == "MJPG" || name == "JPEG";
}

class avi_splitter final : public frame_splitter {
 public:
  avi_splitter(input_bytes from, std::size_t max_frame_bytes)
      : from_(std::move(from)), max_frame_bytes_(max_frame_bytes) {}

  std::optional<raw_frame> next() override {
    while (!ended_) {
      const std::optional<chunk> found = next_chunk();
      if (!found) break;
      if (!std::all_of(found->name.begin(), found->name.end(), is_printable))
        return rest_is_lost(*found);
      if (is_frame(*found)) {
        check_video();
        if (found->bytes != 0) return frame_of(*found);  // else: the last one is shown again
      } else {
        pass(*found);
      }
    }
    if (!video_) throw no_video("has no video stream");
    return std::nullopt;
  }

 private:
  std::optional<chunk> next_chunk() {
    if (odd_ && from_.ahead(1).starts_with('\0')) from_.drop(1);  // some writers leave it out
    odd_ = false;
    const std::string_view head = from_.ahead(8);
    if (head.size() < 8) return std::nullopt;
    chunk found{std::string(head.substr(0, 4)), number_at(head, 4), from_.offset()};
    from_.drop(8);
    return found;
  }
  raw_frame rest_is_lost(const chunk& at) {
    ended_ = true;
    return {number_++, {}, fmt::format("no chunk at byte {}, the rest is left out", at.offset)};
  }

  [[nodiscard]] bool is_frame(const chunk& found) const {
    if (!found.name.ends_with("dc") && !found.name.ends_with("db")) return false;
    if (!video_) return false;
    return found.name.starts_with(fmt::format("{:02}", *video_));
  }
  void check_video() const {
    if (!is_motion_jpeg(codec_)) {
      std::string shown = codec_;
      std::replace_if(
          shown.begin(), shown.end(), [](char c) { return !is_printable(c); }, '?');
      throw no_video(fmt::format("its video is '{}', not Motion JPEG", shown));
    }
  }
  raw_frame frame_of(const chunk& found) {
    raw_frame made{number_++, {}, {}};
    odd_ = found.bytes % 2 != 0;
    if (found.bytes > max_frame_bytes_) {
      made.fault = fmt::format("{} bytes, which is too many", found.bytes);
      from_.skip(found.bytes);
      return made;
    }
    const std::uint64_t read =
        from_.take(found.bytes, [&](std::string_view piece) { made.jpeg.append(piece); });
    if (read < found.bytes) made.fault = "the file ends in it";
    return made;
  }

  /// Enters a list of interest, notes what a header says, or skips a chunk.
  void pass(const chunk& found) {
    if (found.name == "RIFF" || found.name == "LIST") return enter(found);
    std::string head;
    const std::uint64_t wanted = std::min<std::uint32_t>(found.bytes, 20);
    const std::uint64_t read =
        from_.take(wanted, [&](std::string_view piece) { head.append(piece); });
    if (found.name == "strh" && head.size() >= 8) stream_header(head);
    if (found.name == "strf" && head.size() >= 20 && is_video_header_) codec_ = head.substr(16, 4);
    from_.skip(found.bytes - read);
    odd_ = found.bytes % 2 != 0;
  }
  void enter(const chunk& list) {
    const std::string type(from_.ahead(4).substr(0, 4));
    for (const char* inside : {"AVI ", "AVIX", "hdrl", "strl", "movi", "rec "}) {
      if (type == inside) return from_.drop(4);
    }
    from_.skip(list.bytes);
    odd_ = list.bytes % 2 != 0;
  }
  void stream_header(std::string_view head) {
    is_video_header_ = !video_ && head.starts_with("vids") && streams_ < 100;
    if (is_video_header_) {
      video_ = streams_;
      codec_ = head.substr(4, 4);
    }
    ++streams_;
  }

  input_bytes from_;
  std::size_t max_frame_bytes_;
  std::uint64_t number_ = 0;
  std::optional<unsigned> video_;  // number of the stream
  std::string codec_;
  unsigned streams_ = 0;
  bool is_video_header_ = false;  // the last stream header is that of the video
  bool odd_ = false;              // a byte follows that makes the last chunk's size even
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<frame_splitter> split_avi(input_bytes from, std::size_t max_frame_bytes) {
  return std::make_unique<avi_splitter>(std::move(from), max_frame_bytes);
}

}  // namespace creek::mjpeg

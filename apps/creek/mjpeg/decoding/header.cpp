// SPDX-License-Identifier: Apache-2.0
#include "header.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "faults.hpp"

namespace creek::mjpeg {
namespace {

enum marker : unsigned {
  sof0 = 0xC0,
  sof1 = 0xC1,
  dht = 0xC4,
  sof15 = 0xCF,
  rst0 = 0xD0,
  soi = 0xD8,
  eoi = 0xD9,
  sos = 0xDA,
  dqt = 0xDB,
  dri = 0xDD,
  app0 = 0xE0,
  app14 = 0xEE,
};

/// Reads the bytes of a segment.
class segment_reader {
 public:
  segment_reader(std::string_view bytes, const char* name) : left_(bytes), name_(name) {}

  unsigned byte() {
    if (left_.empty()) throw damaged_frame(fmt::format("segment {} is too short", name_));
    const auto value = static_cast<unsigned char>(left_.front());
    left_.remove_prefix(1);
    return value;
  }
  unsigned word() {
    const unsigned high = byte();
    return high * 256 + byte();
  }
  [[nodiscard]] bool empty() const { return left_.empty(); }
  [[nodiscard]] bool begins_with(std::string_view text) const { return left_.starts_with(text); }
  [[nodiscard]] std::string_view rest() const { return left_; }

 private:
  std::string_view left_;
  const char* name_;
};

class header_reader {
 public:
  header_reader(std::string_view jpeg, std::uint64_t max_pixels)
      : jpeg_(jpeg), max_pixels_(max_pixels) {
    set_standard_tables(made_);
  }

  jpeg_header read() {
    if (!jpeg_.starts_with("\xFF\xD8")) throw damaged_frame("no JPEG image");
    at_ = 2;
    for (;;) {
      const unsigned code = next_marker();
      if (code == eoi) throw damaged_frame("no image data before its end");
      const std::string_view body = next_segment();
      if (code == sos) {
        scan({body, "SOS"});
        made_.data = at_;
        choose_colours();
        return made_;
      }
      segment(code, body);
    }
  }

 private:
  unsigned byte_at(std::size_t at) const {
    if (at >= jpeg_.size()) throw damaged_frame("ends in its header");
    return static_cast<unsigned char>(jpeg_[at]);
  }
  unsigned next_marker() {
    if (byte_at(at_) != 0xFF) throw damaged_frame(fmt::format("no marker at byte {}", at_));
    while (byte_at(at_) == 0xFF) ++at_;
    const unsigned code = byte_at(at_++);
    if (code == 0 || code == 1 || (code >= rst0 && code <= soi))
      throw damaged_frame(fmt::format("marker {:02X} in the header", code));
    return code;
  }
  std::string_view next_segment() {
    const std::size_t length = byte_at(at_) * 256 + byte_at(at_ + 1);
    if (length < 2) throw damaged_frame(fmt::format("segment of length {}", length));
    if (length > jpeg_.size() - at_) throw damaged_frame("ends in its header");
    const std::string_view body = jpeg_.substr(at_ + 2, length - 2);
    at_ += length;
    return body;
  }

  void segment(unsigned code, std::string_view body) {
    if (code == sof0 || code == sof1) return frame({body, "SOF"});
    if (code == dht) return huffman({body, "DHT"});
    if (code > sof1 && code <= sof15) {
      throw damaged_frame(fmt::format("not baseline: SOF{}", code - sof0));
    }
    if (code == dqt) return quantisation({body, "DQT"});
    if (code == dri) made_.restart_interval = segment_reader(body, "DRI").word();
    if (code == app0 && body.starts_with(std::string_view("JFIF\0", 5)) && body.size() >= 14)
      jfif_ = true;
    if (code == app14 && body.starts_with("Adobe") && body.size() >= 12)
      adobe_ = static_cast<unsigned char>(body[11]);
  }

  void frame(segment_reader from) {
    if (made_.components != 0) throw damaged_frame("two segments SOF");
    if (from.byte() != 8) throw damaged_frame("not 8 bits per sample");
    made_.height = from.word();
    made_.width = from.word();
    if (made_.width == 0 || made_.height == 0) throw damaged_frame("a size of 0");
    if (std::uint64_t{made_.width} * made_.height > max_pixels_) {
      throw damaged_frame(fmt::format("{} x {} pixels are more than --max-pixels {}", made_.width,
                                      made_.height, max_pixels_));
    }
    made_.components = from.byte();
    if (made_.components != 1 && made_.components != 3)
      throw damaged_frame(fmt::format("{} components; 1 or 3 are supported", made_.components));
    for (unsigned i = 0; i < made_.components; ++i) made_.component_at[i] = one_component(from);
    check_sampling();
  }
  static component one_component(segment_reader& from) {
    component one;
    one.id = from.byte();
    const unsigned sampling = from.byte();
    one.across = sampling / 16;
    one.down = sampling % 16;
    one.quantisation = from.byte();
    if (one.across < 1 || one.across > 4 || one.down < 1 || one.down > 4 || one.quantisation > 3)
      throw damaged_frame("segment SOF is damaged");
    return one;
  }
  void check_sampling() {
    auto& all = made_.component_at;
    if (made_.components == 1) {
      all[0].across = all[0].down = 1;  // a scan of one component has no other
      return;
    }
    unsigned blocks = 0, across = 1, down = 1;
    for (const component& one : all) {
      blocks += one.across * one.down;
      across = std::max(across, one.across);
      down = std::max(down, one.down);
    }
    if (blocks > 10) throw damaged_frame("more than 10 blocks in an MCU");
    for (const component& one : all) {
      if (across % one.across != 0 || down % one.down != 0)
        throw damaged_frame("sampling factors that do not divide each other");
    }
  }

  void quantisation(segment_reader from) {
    while (!from.empty()) {
      const unsigned which = from.byte();
      if (which % 16 > 3 || which / 16 > 1) throw damaged_frame("segment DQT is damaged");
      for (auto& each : made_.quantisation[which % 16])
        each = static_cast<std::uint16_t>(which / 16 == 0 ? from.byte() : from.word());
      made_.has_quantisation[which % 16] = true;
    }
  }
  void huffman(segment_reader from) {
    while (!from.empty()) {
      const unsigned which = from.byte();
      if (which % 16 > 3 || which / 16 > 1) throw damaged_frame("segment DHT is damaged");
      huffman_spec spec;
      unsigned symbols = 0;
      for (auto& each : spec.counts) symbols += each = static_cast<std::uint8_t>(from.byte());
      if (symbols > 256) throw damaged_frame("segment DHT is damaged");
      for (unsigned i = 0; i < symbols; ++i)
        spec.symbols[i] = static_cast<std::uint8_t>(from.byte());
      (which / 16 == 0 ? made_.dc : made_.ac)[which % 16] = spec;
      (which / 16 == 0 ? made_.has_dc : made_.has_ac)[which % 16] = true;
    }
  }
  void scan(segment_reader from) {
    if (made_.components == 0) throw damaged_frame("no segment SOF before the data");
    if (from.byte() != made_.components) throw damaged_frame("several scans; one is supported");
    for (unsigned i = 0; i < made_.components; ++i) {
      component& one = made_.component_at[i];
      if (from.byte() != one.id) throw damaged_frame("segment SOS is damaged");
      const unsigned tables = from.byte();
      one.dc = tables / 16;
      one.ac = tables % 16;
      if (one.dc > 3 || one.ac > 3 || !made_.has_dc[one.dc] || !made_.has_ac[one.ac])
        throw damaged_frame("a Huffman table is missing");
      if (!made_.has_quantisation[one.quantisation])
        throw damaged_frame("a quantisation table is missing");
    }
    if (from.byte() != 0 || from.byte() != 63 || from.byte() != 0)
      throw damaged_frame("segment SOS is not that of a baseline image");
  }

  /// Follows libjpeg: JFIF means YCbCr, else a segment of Adobe says what it is, else the numbers
  /// of the components.
  void choose_colours() {
    const auto& all = made_.component_at;
    if (made_.components == 1) {
      made_.colour = colours::grey;
    } else if (jfif_) {
      made_.colour = colours::ycc;
    } else if (adobe_ >= 0) {
      made_.colour = adobe_ == 0 ? colours::rgb : colours::ycc;
    } else {
      const bool letters = all[0].id == 'R' && all[1].id == 'G' && all[2].id == 'B';
      made_.colour = letters ? colours::rgb : colours::ycc;
    }
  }

  std::string_view jpeg_;
  std::uint64_t max_pixels_;
  std::size_t at_ = 0;
  jpeg_header made_;
  bool jfif_ = false;
  int adobe_ = -1;
};

}  // namespace

jpeg_header read_header(std::string_view jpeg, std::uint64_t max_pixels) {
  return header_reader(jpeg, max_pixels).read();
}

}  // namespace creek::mjpeg

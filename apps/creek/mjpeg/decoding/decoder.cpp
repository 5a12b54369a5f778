// SPDX-License-Identifier: Apache-2.0
// The decoder of this program: baseline JPEG of [ITU T.81], a row of MCUs at a time.
#include "decoder.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "bit_reader.hpp"
#include "costs.hpp"
#include "faults.hpp"
#include "huffman.hpp"
#include "inverse_dct.hpp"
#include "sample_rows.hpp"

namespace creek::mjpeg {
namespace {

/// Position in a block of each coefficient of the zigzag order [ITU T.81, figure 5].
constexpr std::array<std::uint8_t, 64> zigzag{
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

constexpr std::size_t divided_up(std::size_t x, std::size_t by) {
  return (x + by - 1) / by;
}

std::uint8_t limited(int x) {
  return static_cast<std::uint8_t>(std::clamp(x, 0, 255));
}

/// Writes the pixel of libjpeg's conversion [JFIF 1.02], with 16 bits after the point.
void write_ycc(std::uint8_t*& to, int y, int cb, int cr) {
  constexpr auto fixed = [](double x) { return static_cast<int>(x * 65536 + 0.5); };
  constexpr int half = 1 << 15;
  cb -= 128;
  cr -= 128;
  *to++ = limited(y + ((fixed(1.40200) * cr + half) >> 16));
  *to++ = limited(y + ((half - fixed(0.34414) * cb - fixed(0.71414) * cr) >> 16));
  *to++ = limited(y + ((fixed(1.77200) * cb + half) >> 16));
}

/// Decodes the blocks of one component.
class block_decoder {
 public:
  block_decoder(const jpeg_header& header, const component& of)
      : quantisation_(header.quantisation[of.quantisation]),
        dc_(header.dc[of.dc]),
        ac_(header.ac[of.ac]) {
    if (dc_.max_symbol() > 15) throw damaged_frame("a Huffman table has wrong symbols");
  }

  void restart() { last_dc_ = 0; }

  /// Reads a block and writes its samples.
  void decode(bit_reader& from, std::uint8_t* to, std::size_t stride, decoding_work& done) {
    coefficients all{};
    if (const unsigned bits = dc_.next(from); bits != 0)
      last_dc_ = static_cast<std::int16_t>(last_dc_ + from.value(bits));
    all[0] = product(last_dc_, 0);
    done.symbols += 1 + read_ac(from, all);
    ++done.blocks;
    inverse_dct(all, to, stride);
  }

 private:
  [[nodiscard]] std::int16_t product(int value, std::size_t k) const {
    return static_cast<std::int16_t>(value * int{quantisation_[k]});
  }
  /// Returns the number of symbols. A run that leads out of the block ends at its last
  /// coefficient, as in libjpeg.
  std::int64_t read_ac(bit_reader& from, coefficients& all) const {
    std::int64_t symbols = 0;
    for (std::size_t k = 1; k < 64; ++k) {
      const unsigned symbol = ac_.next(from), bits = symbol % 16, run = symbol / 16;
      ++symbols;
      if (bits == 0 && run != 15) break;
      k += run;
      if (bits == 0) continue;
      const int value = from.value(bits);
      const std::size_t at = std::min<std::size_t>(k, 63);
      all[zigzag[at]] = product(value, at);
    }
    return symbols;
  }

  const std::array<std::uint16_t, 64>& quantisation_;
  huffman_table dc_, ac_;
  std::int16_t last_dc_ = 0;
};

class frame_decoder {
 public:
  frame_decoder(std::string_view jpeg, const jpeg_header& header)
      : header_(header), from_(jpeg.substr(header.data)) {
    for (unsigned i = 0; i < header.components; ++i) {
      across_ = std::max<std::size_t>(across_, header.component_at[i].across);
      down_ = std::max<std::size_t>(down_, header.component_at[i].down);
    }
    mcus_ = divided_up(header.width, 8 * across_);
    for (unsigned i = 0; i < header.components; ++i) add(header.component_at[i]);
    strip_.resize(8 * down_ * header.width * 3);
  }

  void decode(const row_sink& sink) {
    const std::size_t rows = divided_up(header_.height, 8 * down_);
    for (std::size_t row = 0; row < rows; ++row) {
      decode_row(row);
      if (row != 0) write(row - 1, sink);  // its last pixels need the samples below
    }
    write(rows - 1, sink);
  }

 private:
  void add(const component& one) {
    const sampling how{across_ / one.across, down_ / one.down,
                       divided_up(header_.width * std::size_t{one.across}, across_),
                       divided_up(header_.height * std::size_t{one.down}, down_)};
    blocks_.emplace_back(header_, one);
    samples_.emplace_back(one, how, mcus_);
  }

  void decode_row(std::size_t row) {
    decoding_work done;
    const std::size_t before = from_.bytes_read();
    for (std::size_t column = 0; column < mcus_; ++column) {
      if (header_.restart_interval != 0 && mcu_ != 0 && mcu_ % header_.restart_interval == 0)
        restart();
      decode_mcu(row, column, done);
      ++mcu_;
    }
    done.bytes = static_cast<std::int64_t>(from_.bytes_read() - before);
    charge_work(done);
  }
  void restart() {
    from_.restart((mcu_ / header_.restart_interval - 1) % 8);
    for (block_decoder& each : blocks_) each.restart();
  }
  void decode_mcu(std::size_t row, std::size_t column, decoding_work& done) {
    for (unsigned i = 0; i < header_.components; ++i) {
      const component& one = header_.component_at[i];
      sample_rows& to = samples_[i];
      for (std::size_t y = 0; y < one.down; ++y) {
        for (std::size_t x = 0; x < one.across; ++x) {
          std::uint8_t* const block = to.block(row * one.down + y, column * one.across + x);
          blocks_[i].decode(from_, block, to.stride(), done);
        }
      }
    }
  }

  /// Writes the pixels of a row of MCUs.
  void write(std::size_t row, const row_sink& sink) {
    const std::size_t first = row * 8 * down_;
    const std::size_t end = std::min<std::size_t>(first + 8 * down_, header_.height);
    std::uint8_t* to = strip_.data();
    for (std::size_t y = first; y < end; ++y) write_row(y, to);
    const auto pixels = static_cast<std::int64_t>((end - first) * header_.width);
    charge_work({.pixels = pixels, .upsampled = upsampled_components() * pixels});
    sink({reinterpret_cast<const char*>(strip_.data()), (end - first) * header_.width * 3});
  }
  void write_row(std::size_t y, std::uint8_t*& to) {
    const auto first = samples_[0].pixels(y);
    if (header_.components == 1) {
      for (std::size_t x = 0; x < header_.width; ++x) to = std::fill_n(to, 3, first[x]);
      return;
    }
    const auto second = samples_[1].pixels(y), third = samples_[2].pixels(y);
    for (std::size_t x = 0; x < header_.width; ++x) {
      if (header_.colour == colours::ycc) {
        write_ycc(to, first[x], second[x], third[x]);
      } else {
        for (const std::uint8_t value : {first[x], second[x], third[x]}) *to++ = value;
      }
    }
  }
  [[nodiscard]] std::int64_t upsampled_components() const {
    std::int64_t number = 0;
    for (unsigned i = 0; i < header_.components; ++i) {
      const component& one = header_.component_at[i];
      number += one.across != across_ || one.down != down_;
    }
    return number;
  }

  const jpeg_header& header_;
  bit_reader from_;
  std::size_t across_ = 1, down_ = 1;  // the largest sampling factors
  std::size_t mcus_ = 0;               // in a row
  unsigned mcu_ = 0;                   // number of the next one
  std::vector<block_decoder> blocks_;
  std::vector<sample_rows> samples_;
  std::vector<std::uint8_t> strip_;
};

}  // namespace

void decode_here(std::string_view jpeg, const jpeg_header& header, const row_sink& rows) {
  frame_decoder(jpeg, header).decode(rows);
}

}  // namespace creek::mjpeg

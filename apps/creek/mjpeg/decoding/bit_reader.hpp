// SPDX-License-Identifier: Apache-2.0
// Entropy-coded data bit by bit [ITU T.81, F.2.2]: FF 00 stands for a byte FF, and a marker ends
// the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "faults.hpp"

namespace creek::mjpeg {

class bit_reader {
 public:
  explicit bit_reader(std::string_view bytes) : bytes_(bytes) {}

  /// Returns the next 16 bits; those after the end are zeros.
  [[nodiscard]] unsigned peek() {
    if (count_ < 16) fill();
    return static_cast<unsigned>(bits_ >> 48);
  }
  /// Drops bits, at most 16. Throws damaged_frame if there are not as many before the end.
  void drop(unsigned bits) {
    if (bits > count_) fill();
    if (bits > count_) throw damaged_frame("its data end early");
    bits_ <<= bits;
    count_ -= bits;
  }
  /// Returns a value of `bits` bits, 1 to 16, with its sign [ITU T.81, F.2.2.1, EXTEND].
  int value(unsigned bits) {
    const int read = static_cast<int>(peek() >> (16 - bits));
    drop(bits);
    return read < 1 << (bits - 1) ? read - (1 << bits) + 1 : read;
  }

  /// Goes on behind a restart marker. Throws damaged_frame if another one, or none, is next.
  void restart(unsigned number);

  /// Returns how many bytes were read, markers among them.
  [[nodiscard]] std::size_t bytes_read() const { return at_; }

 private:
  /// Gets as many bytes as fit, up to a marker or the end.
  void fill() {
    while (count_ <= 56 && at_ < bytes_.size()) {
      const auto next = static_cast<unsigned char>(bytes_[at_]);
      if (next == 0xFF) {
        if (at_ + 1 >= bytes_.size() || bytes_[at_ + 1] != 0) return;
        ++at_;
      }
      ++at_;
      bits_ |= std::uint64_t{next} << (56 - count_);
      count_ += 8;
    }
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::uint64_t bits_ = 0;  // the next one is the highest
  unsigned count_ = 0;
};

}  // namespace creek::mjpeg

// SPDX-License-Identifier: Apache-2.0
#include "bit_reader.hpp"

namespace creek::mjpeg {

void bit_reader::restart(unsigned number) {
  if (count_ >= 8) throw damaged_frame("more data than its restart interval has");
  bits_ = 0;
  count_ = 0;
  const std::size_t marker = at_;
  while (at_ < bytes_.size() && bytes_[at_] == '\xFF') ++at_;
  if (at_ == marker || at_ == bytes_.size() ||
      static_cast<unsigned char>(bytes_[at_]) != 0xD0 + number) {
    throw damaged_frame("a restart marker is missing");
  }
  ++at_;
}

}  // namespace creek::mjpeg

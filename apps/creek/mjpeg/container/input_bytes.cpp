// SPDX-License-Identifier: Apache-2.0
#include "input_bytes.hpp"

#include <cstring>

namespace creek::mjpeg {

std::string_view input_bytes::ahead(std::size_t min) {
  if (end_ - begin_ < min && begin_ != 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    before_ += begin_;
    end_ -= begin_;
    begin_ = 0;
  }
  while (end_ - begin_ < min && !ended_) {
    const std::size_t read = read_(buffer_.data() + end_, buffer_.size() - end_);
    end_ += read;
    ended_ = read == 0;
  }
  return {buffer_.data() + begin_, end_ - begin_};
}

}  // namespace creek::mjpeg

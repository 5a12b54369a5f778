// SPDX-License-Identifier: Apache-2.0
#include "text_stream.hpp"

#include <algorithm>
#include <cstring>

namespace creek::mapreduce::detail {

std::string_view text_stream::peek(std::size_t bytes) {
  while (!at_end_ && end_ - begin_ < bytes) fill();
  return {buffer_.get() + begin_, std::min(bytes, end_ - begin_)};
}

std::uint64_t text_stream::skip(std::uint64_t bytes) {
  for (std::uint64_t left = bytes;;) {
    const auto here = static_cast<std::size_t>(std::min<std::uint64_t>(left, end_ - begin_));
    begin_ += here;
    left -= here;
    if (left == 0 || at_end_) return bytes - left;
    fill();
  }
}

std::string_view text_stream::next() {
  for (;;) {
    if (at_end_ && begin_ == end_) return {};
    const std::string_view here(buffer_.get() + begin_, end_ - begin_);
    const std::size_t whole = at_end_ ? here.size() : whole_(here);
    if (whole != 0) {
      begin_ += whole;
      return here.substr(0, whole);
    }
    fill();
  }
}

/// Moves the start of an incomplete record to the front and reads more after it. The part that is
/// searched again for a border grows with the buffer, which doubles: linear in total.
void text_stream::fill() {
  const std::size_t kept = end_ - begin_;
  if (kept * 2 >= capacity_) {
    const std::size_t capacity = std::max(first_bytes, capacity_ * 2);
    auto larger = std::make_unique_for_overwrite<char[]>(capacity);
    if (kept != 0) std::memcpy(larger.get(), buffer_.get() + begin_, kept);
    buffer_ = std::move(larger);
    capacity_ = capacity;
  } else if (kept != 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, kept);
  }
  begin_ = 0;
  end_ = kept;
  // Fills the buffer, so that a slow pipe does not restart the search above for each few bytes.
  while (end_ < capacity_) {
    const std::size_t got = source_->read(buffer_.get() + end_, capacity_ - end_);
    if (got == 0) {
      at_end_ = true;
      return;
    }
    end_ += got;
  }
}

}  // namespace creek::mapreduce::detail

// SPDX-License-Identifier: Apache-2.0
#include "sample_rows.hpp"

#include <algorithm>

namespace creek::mjpeg {

sample_rows::sample_rows(const component& of, sampling how, std::size_t mcus)
    : how_(how),
      stride_(8 * of.across * mcus),
      kept_(3 * 8 * of.down),
      rows_(stride_ * kept_),
      upsampled_(how.across * stride_) {}

std::span<const std::uint8_t> sample_rows::pixels(std::size_t y) {
  const std::uint8_t* const from = row(y / how_.down);
  const bool smooth = how_.width > 2;
  if (how_.across == 1 && how_.down == 1) return {from, how_.width};
  if (how_.across == 2 && how_.down == 1 && smooth) {
    widen(from);
  } else if (how_.across == 2 && how_.down == 2 && smooth) {
    widen(from, other_row(y));
  } else if (how_.across == 1 && how_.down == 2) {
    heighten(from, other_row(y), y % 2 == 0 ? 1 : 2);
  } else {
    repeat(from);
  }
  return upsampled_;
}

const std::uint8_t* sample_rows::other_row(std::size_t y) const {
  const std::size_t here = y / 2;
  if (y % 2 == 0) return row(here == 0 ? 0 : here - 1);
  return row(std::min(here + 1, how_.height - 1));
}

void sample_rows::widen(const std::uint8_t* from) {
  const std::size_t last = how_.width - 1;
  std::uint8_t* const to = upsampled_.data();
  const auto mixed = [&](std::size_t near, std::size_t far, unsigned bias) {
    return static_cast<std::uint8_t>((3u * from[near] + from[far] + bias) / 4);
  };
  to[0] = from[0];
  to[1] = mixed(0, 1, 2);
  for (std::size_t i = 1; i < last; ++i) {
    to[2 * i] = mixed(i, i - 1, 1);
    to[2 * i + 1] = mixed(i, i + 1, 2);
  }
  to[2 * last] = mixed(last, last - 1, 1);
  to[2 * last + 1] = from[last];
}

void sample_rows::widen(const std::uint8_t* from, const std::uint8_t* other) {
  const std::size_t last = how_.width - 1;
  std::uint8_t* const to = upsampled_.data();
  const auto column = [&](std::size_t i) { return 3u * from[i] + other[i]; };
  unsigned before = column(0), here = before;
  to[0] = static_cast<std::uint8_t>((4 * here + 8) / 16);
  for (std::size_t i = 0; i < last; ++i) {
    const unsigned next = column(i + 1);
    if (i != 0) to[2 * i] = static_cast<std::uint8_t>((3 * here + before + 8) / 16);
    to[2 * i + 1] = static_cast<std::uint8_t>((3 * here + next + 7) / 16);
    before = here;
    here = next;
  }
  to[2 * last] = static_cast<std::uint8_t>((3 * here + before + 8) / 16);
  to[2 * last + 1] = static_cast<std::uint8_t>((4 * here + 7) / 16);
}

void sample_rows::heighten(const std::uint8_t* from, const std::uint8_t* other, unsigned bias) {
  for (std::size_t i = 0; i < how_.width; ++i)
    upsampled_[i] = static_cast<std::uint8_t>((3u * from[i] + other[i] + bias) / 4);
}

void sample_rows::repeat(const std::uint8_t* from) {
  std::uint8_t* to = upsampled_.data();
  for (std::size_t i = 0; i < how_.width; ++i) to = std::fill_n(to, how_.across, from[i]);
}

}  // namespace creek::mjpeg

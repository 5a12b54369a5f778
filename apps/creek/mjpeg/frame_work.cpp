// SPDX-License-Identifier: Apache-2.0
#include "frame_work.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <string_view>

#include "decoding/costs.hpp"
#include "decoding/decoder.hpp"
#include "decoding/faults.hpp"
#include "decoding/header.hpp"

namespace creek::mjpeg {
namespace {

void add_rows(decoded_frame& to, std::string_view rows, bool make_picture) {
  to.checksum = static_cast<std::uint32_t>(
      crc32_z(to.checksum, reinterpret_cast<const Bytef*>(rows.data()), rows.size()));
  charge_work({.checked = static_cast<std::int64_t>(rows.size())});
  if (make_picture) to.picture.append(rows);
}

void decode_rows(decoded_frame& to, std::string_view jpeg, const decoding_options& how) {
  const jpeg_header header = read_header(jpeg, how.max_pixels);
  to.width = header.width;
  to.height = header.height;
  if (how.make_picture) to.picture = fmt::format("P6\n{} {}\n255\n", to.width, to.height);
  const auto decode = how.use_library ? decode_by_library : decode_here;
  decode(jpeg, header, [&](std::string_view rows) { add_rows(to, rows, how.make_picture); });
}

}  // namespace

decoded_frame decode(const raw_frame& from, const decoding_options& how) {
  decoded_frame made;
  made.number = from.number;
  made.fault = from.fault;
  if (!made.fault.empty()) return made;
  try {
    decode_rows(made, from.jpeg, how);
  } catch (const damaged_frame& why) {
    made.picture = {};
    made.fault = why.what();
  }
  return made;
}

}  // namespace creek::mjpeg

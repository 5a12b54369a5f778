// SPDX-License-Identifier: Apache-2.0
// Decoders of one frame. Both give the same pixels: those of libjpeg with its slow integer
// transform, its triangle filter for upsampling, and its conversion of colours.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "header.hpp"

namespace creek::mjpeg {

/// Called with rows of interleaved red, green, blue, from the top, some rows at a time.
using row_sink = std::function<void(std::string_view rows)>;

/// Decodes a frame whose header was read. Throws damaged_frame, after some of the rows perhaps. May
/// be called by several threads at once.
void decode_by_library(std::string_view jpeg, const jpeg_header& header, const row_sink& rows);
void decode_here(std::string_view jpeg, const jpeg_header& header, const row_sink& rows);

/// Returns whether this build has the library (libjpeg-turbo).
[[nodiscard]] bool has_library() noexcept;

}  // namespace creek::mjpeg

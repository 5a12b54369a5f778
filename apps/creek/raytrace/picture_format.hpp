// SPDX-License-Identifier: Apache-2.0
// Pictures of 8 bits per colour as PPM or PNG, made of bands of rows that are encoded apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace creek::tool {

/// A band of rows as bytes of the file, and the checksum of what was encoded.
struct encoded_rows {
  std::string bytes;
  std::uint32_t checksum = 1;
  std::size_t size = 0;  ///< bytes that the checksum is of
};

/// The file is the head, the bands from the top without gaps, and the tail.
class picture_format {
 public:
  virtual ~picture_format() = default;
  picture_format(const picture_format&) = delete;
  picture_format& operator=(const picture_format&) = delete;

  [[nodiscard]] virtual std::string head() const = 0;
  /// Encodes whole rows, three bytes per pixel. Any number of threads at once; states its work
  /// (core/charge.hpp).
  [[nodiscard]] virtual encoded_rows encode(std::string_view rows) const = 0;
  /// `all` has the checksum of all bands, by add().
  [[nodiscard]] virtual std::string tail(const encoded_rows& all) const = 0;

  /// Adds the checksum of the next band to that of those before.
  static void add(encoded_rows& all, const encoded_rows& next);

  [[nodiscard]] static std::unique_ptr<picture_format> ppm(int width, int height);
  [[nodiscard]] static std::unique_ptr<picture_format> png(int width, int height);

 protected:
  picture_format() = default;
};

}  // namespace creek::tool

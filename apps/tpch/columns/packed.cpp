// SPDX-License-Identifier: Apache-2.0
#include "packed.hpp"

namespace creek::tpch {
namespace {

constexpr unsigned width_of(std::uint64_t last_code) noexcept {
  if (last_code <= 0xff) return 1;
  if (last_code <= 0xffff) return 2;
  return last_code <= 0xffff'ffff ? 4 : 8;
}

constexpr std::uint64_t distance(std::int64_t from, std::int64_t to) noexcept {
  return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
}

/// `Divisor` is a constant, 1 or 100, to keep the division out of the loop.
template <class To, std::uint64_t Divisor>
void pack_as(std::span<const std::int64_t> values, std::int64_t base, To* to) noexcept {
  for (std::size_t i = 0; i < values.size(); ++i) {
    to[i] = static_cast<To>(distance(base, values[i]) / Divisor);
  }
}

}  // namespace

void packing::see(std::span<const std::int64_t> values) noexcept {
  for (const std::int64_t value : values) {
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
  for (std::size_t i = 0; hundreds && i < values.size(); ++i) hundreds = values[i] % 100 == 0;
}

packed packing::shape() const noexcept {
  packed shape;
  if (least > greatest) return shape;
  shape.base = least;
  shape.factor = hundreds ? 100 : 1;
  shape.last_code = distance(least, greatest) / static_cast<std::uint64_t>(shape.factor);
  shape.width = width_of(shape.last_code);
  return shape;
}

void pack(std::span<const std::int64_t> values, const packed& shape, std::byte* codes,
          std::size_t at) noexcept {
  with_width(shape.width, [&](auto zero) {
    using to = decltype(zero);
    to* const first = reinterpret_cast<to*>(codes) + at;
    if (shape.factor == 1) {
      pack_as<to, 1>(values, shape.base, first);
    } else {
      pack_as<to, 100>(values, shape.base, first);
    }
  });
}

void repack(const packed& from, const packed& shape, std::byte* codes, std::size_t at) noexcept {
  const std::uint64_t ratio = static_cast<std::uint64_t>(from.factor / shape.factor);
  const std::uint64_t shift =
      distance(shape.base, from.base) / static_cast<std::uint64_t>(shape.factor);
  with_width(from.width, [&](auto narrow) {
    with_width(shape.width, [&](auto wide) {
      using to = decltype(wide);
      const auto* const source = from.as<decltype(narrow)>();
      to* const target = reinterpret_cast<to*>(codes) + at;
      const to by = static_cast<to>(ratio), plus = static_cast<to>(shift);
      for (std::size_t i = 0; i < from.size; ++i) {
        target[i] = static_cast<to>(static_cast<to>(source[i]) * by + plus);
      }
    });
  });
}

}  // namespace creek::tpch

// SPDX-License-Identifier: Apache-2.0
// Conversion of elements of a .npy file to numbers of this machine.
#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <cstring>

#include "npy.hpp"

namespace creek::linalg::npy {
namespace {

template <class From>
From load(const char* from, bool swapped) noexcept {
  std::array<char, sizeof(From)> bytes;
  std::memcpy(bytes.data(), from, sizeof(From));
  if (swapped) std::ranges::reverse(bytes);
  From value;
  std::memcpy(&value, bytes.data(), sizeof(From));
  return value;
}

template <class From, scalar T>
index_t decode_real(const char* from, bool swapped, index_t count, T* to) noexcept {
  for (index_t i = 0; i < count; ++i) {
    to[i] = static_cast<real<T>>(load<From>(from + i * index_t{sizeof(From)}, swapped));
  }
  return count;
}

template <class From, scalar T>
index_t decode_complex(const char* from, bool swapped, index_t count, T* to) noexcept {
  for (index_t i = 0; i < count; ++i, from += 2 * sizeof(From)) {
    const auto re = static_cast<real<T>>(load<From>(from, swapped));
    const From im = load<From>(from + sizeof(From), swapped);
    if constexpr (is_complex<T>) {
      to[i] = {re, static_cast<real<T>>(im)};
    } else {
      if (im != From{}) return i;
      to[i] = re;
    }
  }
  return count;
}

template <class S, class U, scalar T>
index_t decode_integer(bool is_signed, const char* from, bool swapped, index_t count,
                       T* to) noexcept {
  return is_signed ? decode_real<S>(from, swapped, count, to)
                   : decode_real<U>(from, swapped, count, to);
}

}  // namespace

template <scalar T>
index_t decode(const element& type, const char* from, index_t count, T* to) noexcept {
  const bool swapped = type.swapped;
  if (type.kind == 'f') {
    return type.bytes == 4 ? decode_real<float>(from, swapped, count, to)
                           : decode_real<double>(from, swapped, count, to);
  }
  if (type.kind == 'c') {
    return type.bytes == 8 ? decode_complex<float>(from, swapped, count, to)
                           : decode_complex<double>(from, swapped, count, to);
  }
  if (type.kind == 'b') {
    std::transform(from, from + count, to, [](char c) { return static_cast<real<T>>(c != 0); });
    return count;
  }
  const bool is_signed = type.kind == 'i';
  switch (type.bytes) {
    case 1:
      return decode_integer<std::int8_t, std::uint8_t>(is_signed, from, false, count, to);
    case 2:
      return decode_integer<std::int16_t, std::uint16_t>(is_signed, from, swapped, count, to);
    case 4:
      return decode_integer<std::int32_t, std::uint32_t>(is_signed, from, swapped, count, to);
    default:
      return decode_integer<std::int64_t, std::uint64_t>(is_signed, from, swapped, count, to);
  }
}

#define CREEK_INSTANTIATE(letter, T) \
  template index_t decode(const element&, const char*, index_t, T*) noexcept;
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::npy

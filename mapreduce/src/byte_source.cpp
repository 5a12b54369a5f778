// SPDX-License-Identifier: Apache-2.0
#include "byte_source.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace creek::mapreduce::detail {
namespace {

bool looks_like_gzip(std::string_view first) noexcept {
  return first.starts_with("\x1F\x8B\x08");
}

bool looks_like_zstd(std::string_view first) noexcept {
  return first.starts_with("\x28\xB5\x2F\xFD");
}

}  // namespace

std::size_t plain_source::read(char* to, std::size_t bytes) {
  if (first_.empty()) return file_->read(to, bytes);
  const std::size_t n = std::min(bytes, first_.size());
  std::memcpy(to, first_.data(), n);
  first_.erase(0, n);
  return n;
}

bool is_compressed(std::string_view first_bytes) noexcept {
  return looks_like_gzip(first_bytes) || looks_like_zstd(first_bytes);
}

std::unique_ptr<byte_source> open_source(const open_file& file) {
  std::array<char, magic_bytes> first;
  std::size_t n = 0;
  while (n < first.size()) {
    const std::size_t got = file.read(first.data() + n, first.size() - n);
    if (got == 0) break;
    n += got;
  }
  const std::string_view seen(first.data(), n);
  if (looks_like_gzip(seen)) return open_gzip(file, seen);
  if (looks_like_zstd(seen)) return open_zstd(file, seen);
  return std::make_unique<plain_source>(file, seen);
}

}  // namespace creek::mapreduce::detail

// SPDX-License-Identifier: Apache-2.0
#include "harness.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <creek/core/error.hpp>
#include <cstdlib>

namespace creek::fuzz {

void expect(bool holds, const std::string& what) {
  if (!holds) throw finding(what);
}

unsigned input::byte() {
  if (left_.empty()) return 0;
  const auto first = static_cast<unsigned char>(left_.front());
  left_.remove_prefix(1);
  return first;
}

std::size_t input::below_wide(std::size_t n) {
  const unsigned low = byte();
  return (low | byte() << 8) % n;
}

std::size_t input::piece_bytes() {
  const std::size_t chosen = below_wide(1 << 16);
  const std::size_t size = left_.size();
  return std::max(1 + chosen % (size + 2), size / 64);
}

memory_file::memory_file(std::string_view content)
    : descriptor_(memfd_create("creek-fuzz", MFD_CLOEXEC)),
      name_("/proc/self/fd/" + std::to_string(descriptor_)) {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
  while (!content.empty()) {
    const ssize_t wrote = write(descriptor_, content.data(), content.size());
    if (wrote < 0) throw std::system_error(errno, std::generic_category(), name_);
    content.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

memory_file::~memory_file() {
  close(descriptor_);
}

runtime& workers(bool several) {
  static runtime one(scheduler_options{.workers = 1});
  static runtime three(scheduler_options{.workers = 3});
  return several ? three : one;
}

std::uint64_t refusal::line() const {
  return why.starts_with(':') ? std::strtoull(why.c_str() + 1, nullptr, 10) : 0;
}

std::size_t refusal::column() const {
  constexpr std::string_view before = ": column ";
  const auto line_end = why.find_first_not_of(":0123456789");
  if (line_end == std::string::npos || line_end == 0) return 0;
  if (!why.substr(line_end - 1).starts_with(before)) return 0;
  return static_cast<std::size_t>(
      std::strtoull(why.c_str() + line_end - 1 + before.size(), nullptr, 10));
}

std::optional<refusal> refusal_of(const std::string& file, const std::function<void()>& f) {
  try {
    f();
  } catch (const error& e) {
    const std::string what = e.what();
    expect(what.starts_with(file + ":"), "no file is named: " + what);
    expect(std::ranges::all_of(what, [](char c) { return c >= ' ' && c <= '~'; }),
           "not one printable line: " + what);
    return refusal{e.code(), what.substr(file.size())};
  }
  return {};
}

bool looks_compressed(std::string_view text) {
  using namespace std::string_view_literals;
  static constexpr std::string_view heads[] = {"\x1F\x8B\x08"sv,
                                               "\x28\xB5\x2F\xFD"sv,
                                               "\xFD\x37zXZ\0"sv,
                                               "\x04\x22\x4D\x18"sv,
                                               "PK\x03\x04"sv,
                                               "\x02\x21\x4C\x18"sv,
                                               "\x89LZO\0\r\n\x1A\n"sv,
                                               "7z\xBC\xAF\x27\x1C"sv,
                                               "PK\x05\x06"sv,
                                               "Rar!\x1A\x07"sv,
                                               "LZIP\x01"sv};
  for (const std::string_view head : heads) {
    if (text.starts_with(head)) return true;
  }
  const auto at = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const bool skipped_by_zstd = at(0) >> 4 == 5 && text.substr(0, 4).ends_with("\x2A\x4D\x18");
  const std::string_view block = text.size() < 10 ? "" : text.substr(4, 6);
  const bool bzip2 = text.starts_with("BZh") && at(3) >= '1' && at(3) <= '9' &&
                     (block == "1AY&SY" || block == "\x17\x72\x45\x38\x50\x90");
  const bool compress =
      text.starts_with("\x1F\x9D") && (at(2) & 0x60) == 0 && (at(2) & 31) > 8 && (at(2) & 31) < 17;
  return (skipped_by_zstd && text.size() >= 4) || bzip2 || compress;
}

}  // namespace creek::fuzz

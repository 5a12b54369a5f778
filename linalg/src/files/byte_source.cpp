// SPDX-License-Identifier: Apache-2.0
#include "byte_source.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <creek/core/error.hpp>
#include <cstring>

namespace creek::linalg::detail {

byte_source::byte_source(const std::string& name) : file_(name) {
  struct stat facts {};
  if (fstat(file_.descriptor(), &facts) == 0 && S_ISREG(facts.st_mode)) {
    const off_t at = std::max<off_t>(lseek(file_.descriptor(), 0, SEEK_CUR), 0);
    unread_ = static_cast<std::uint64_t>(std::max<off_t>(facts.st_size - at, 0));
  }
  // Not value-initialised: a small file touches little of it.
  buffer_ = std::make_unique_for_overwrite<char[]>(buffer_size);
}

std::optional<std::uint64_t> byte_source::remaining() const noexcept {
  if (!unread_) return std::nullopt;
  return *unread_ + (end_ - begin_);
}

std::size_t byte_source::read_some(char* to, std::size_t bytes) {
  const std::size_t count = file_.read(to, bytes);
  if (unread_) *unread_ -= std::min<std::uint64_t>(*unread_, count);
  return count;
}

/// Appends data to the buffer. Returns false if the buffer is full or the file has ended.
bool byte_source::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (at_end_ || end_ == buffer_size) return false;
  const std::size_t got = read_some(buffer_.get() + end_, buffer_size - end_);
  at_end_ = got == 0;
  end_ += got;
  return got > 0;
}

std::string_view byte_source::peek(std::size_t bytes) {
  while (buffered().size() < bytes && fill()) {
  }
  return buffered().substr(0, bytes);
}

std::size_t byte_source::read(void* to, std::size_t bytes) {
  char* const out = static_cast<char*>(to);
  std::size_t done = std::min(bytes, buffered().size());
  if (done > 0) std::memcpy(out, buffered().data(), done);
  begin_ += done;
  while (done < bytes && !at_end_) {
    // A read() of more than 2 GiB is cut short by Linux; asking for less keeps that case common.
    const std::size_t got = read_some(out + done, std::min(bytes - done, std::size_t{1} << 30));
    at_end_ = got == 0;
    done += got;
  }
  return done;
}

std::optional<std::string_view> byte_source::line() {
  ++line_number_;
  std::size_t searched = 0;
  for (;;) {
    const std::string_view text = buffered();
    const std::size_t end = text.find('\n', searched);
    if (end != text.npos) {
      begin_ += end + 1;
      return text.substr(0, end);
    }
    searched = text.size();
    if (fill()) continue;
    if (!at_end_) fail_in_line(matrix_file_fault::malformed, "the line is longer than 1 MiB");
    if (text.empty()) return std::nullopt;
    const std::string_view last = buffered();  // fill() may have moved it
    begin_ = end_;
    return last;
  }
}

void byte_source::fail(matrix_file_fault fault, const std::string& what) const {
  throw error(make_error_code(fault), fmt::format("{}: {}", name(), what));
}

void byte_source::fail_in_line(matrix_file_fault fault, const std::string& what) const {
  throw error(make_error_code(fault), fmt::format("{}, line {}: {}", name(), line_number_, what));
}

std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string shown(text.substr(0, longest));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return fmt::format("'{}{}'", shown, text.size() > longest ? "..." : "");
}

}  // namespace creek::linalg::detail

// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <iostream>
#include <mutex>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

#include "call.hpp"

namespace creek::rcce {

namespace {

std::atomic<int> failure{0};

/// Collects the lines of one of the two outputs.
class line_collector {
 public:
  explicit line_collector(int fd) : fd_{fd} {}

  void expect(int ues) { begun_.resize(static_cast<std::size_t>(ues)); }

  void write(std::string_view text) {
    const ue* self = current();
    if (self == nullptr) return write_out(text);
    std::string& begun = begun_[static_cast<std::size_t>(self->rank)];
    const std::size_t end = text.rfind('\n');
    if (end == std::string_view::npos) {
      begun += text;
      return;
    }
    begun += text.substr(0, end + 1);
    write_out(begun);
    begun = text.substr(end + 1);
  }
  void end_line(int of) {
    std::string& begun = begun_[static_cast<std::size_t>(of)];
    if (begun.empty()) return;
    write_out(begun + '\n');
    begun.clear();
  }

 private:
  void write_out(std::string_view text) {
    const std::lock_guard whole(writing_);
    while (!text.empty()) {
      const ssize_t n = ::write(fd_, text.data(), text.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        failure = errno;
        return;
      }
      text.remove_prefix(static_cast<std::size_t>(n));
    }
  }

  int fd_;
  std::mutex writing_;
  std::vector<std::string> begun_;  // by UE; each entry is used by its own UE only
};

// Never destroyed, since destructors of programs may print.
line_collector& out = *new line_collector(STDOUT_FILENO);
line_collector& err = *new line_collector(STDERR_FILENO);

ssize_t write_cookie(void* to, const char* text, std::size_t size) {
  static_cast<line_collector*>(to)->write({text, size});
  return static_cast<ssize_t>(size);
}

/// Returns an unbuffered stream: each of the program's calls gets through during its turn.
std::FILE* stream_to(line_collector& to) {
  cookie_io_functions_t functions{};
  functions.write = write_cookie;
  std::FILE* made = fopencookie(&to, "w", functions);
  if (made != nullptr) std::setvbuf(made, nullptr, _IONBF, 0);
  return made;
}

class stream_buffer : public std::streambuf {
 public:
  explicit stream_buffer(line_collector& to) : to_{to} {}

 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    to_.write({text, static_cast<std::size_t>(size)});
    return size;
  }
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    const char one = traits_type::to_char_type(c);
    to_.write({&one, 1});
    return c;
  }

 private:
  line_collector& to_;
};

}  // namespace

void collect_lines(int ues) {
  out.expect(ues);
  err.expect(ues);
  std::fflush(nullptr);
  if (std::FILE* made = stream_to(out)) stdout = made;
  if (std::FILE* made = stream_to(err)) stderr = made;
  static stream_buffer& to_out = *new stream_buffer(out);
  static stream_buffer& to_err = *new stream_buffer(err);
  std::cout.rdbuf(&to_out);
  std::cerr.rdbuf(&to_err);
  std::clog.rdbuf(&to_err);
}

void end_lines(int of) {
  out.end_line(of);
  err.end_line(of);
}

int output_failure() noexcept {
  return failure;
}

}  // namespace creek::rcce

// SPDX-License-Identifier: Apache-2.0
// The line that says what is running, on a terminal only, rewritten in place.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

namespace creek::tool {

class progress_line {
 public:
  progress_line() = default;
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;
  ~progress_line() { show(""); }
  void show(const std::string& text) {
    if (!terminal_) return;
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
    std::fflush(stderr);
  }

 private:
  bool terminal_ = isatty(STDERR_FILENO) == 1;
};

}  // namespace creek::tool

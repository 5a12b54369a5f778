// SPDX-License-Identifier: Apache-2.0
// Arguments and output of the suite's programs.
#pragma once
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace benchmark {

/// Returns argument `index` as a number, `otherwise` if it is absent; ends the program if it is no
/// positive number.
inline unsigned argument(int argc, char** argv, int index, unsigned otherwise) {
  if (index >= argc) return otherwise;
  const std::string text = argv[index];
  const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
  const unsigned long value =
      digits && !text.empty() && text.size() < 9 ? std::strtoul(text.c_str(), nullptr, 10) : 0;
  if (value == 0) {
    std::fprintf(stderr, "%s: argument %d must be a positive number, got '%s'\n", argv[0], index,
                 text.c_str());
    std::exit(2);
  }
  return static_cast<unsigned>(value);
}

/// Returns the number of threads in argument `index`; the default is the suite's.
inline unsigned threads(int argc, char** argv, int index) {
  return argument(argc, argv, index, std::max(1U, std::thread::hardware_concurrency() / 2));
}

/// Calls `f` once and prints the suite's record of it, whose first line is `name: value`.
template <class F>
void run(const char* name, unsigned value, const F& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  const auto stop = std::chrono::steady_clock::now();
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(stop - start).count();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("runs:\n  - %s: %u\n    duration: %lld us\n    max_rss: %ld KiB\n", name, value,
              static_cast<long long>(us), usage.ru_maxrss);
}

/// Ends the program if an answer is wrong.
template <class T>
void check(const T& got, const T& expected) {
  if (got == expected) return;
  std::fprintf(stderr, "wrong result: %lld, expected %lld\n", static_cast<long long>(got),
               static_cast<long long>(expected));
  std::exit(1);
}

}  // namespace benchmark

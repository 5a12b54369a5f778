// SPDX-License-Identifier: Apache-2.0
// The libraries that the peer program `blas` can be: one list, one peer per variant. A library
// reads its environment (kernels, threads) when it is loaded, so a variant is a process, and its
// environment is set before it begins.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bench::blas {

struct variant {
  const char* name;
  std::vector<const char*> files;  ///< patterns, in loading order; relative ones are in a wheel
  const char* how;                 ///< how to get them
  const char* prefix = "";         ///< prefix of every symbol
  std::vector<std::pair<const char*, const char*>> environment = {};
  const char* kernel = "";        ///< kernel that the library must report; empty: any
  bool (*runs_here)() = nullptr;  ///< whether this processor can run that kernel
  std::int64_t largest = std::numeric_limits<std::int64_t>::max();  ///< more takes too long
};

/// Returns the variants in the order of the table.
std::span<const variant> variants();

/// Returns a variant's files in loading order, or an empty list if one is missing. Wheels are in
/// the folder that CREEK_BENCH_WHEELS names, or else in the build's folder for them.
std::vector<std::string> files_of(const variant& v);

}  // namespace bench::blas

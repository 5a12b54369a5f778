// SPDX-License-Identifier: Apache-2.0
#include "clock_factor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>

#include <creek/core/error.hpp>
#include <creek/core/io/atomic_file.hpp>
#include <creek/core/io/open_file.hpp>
#include <creek/core/measuring/thread_cpu_time.hpp>
#include <creek/scc/work_costs.hpp>

#include "json/json_value.hpp"

namespace creek::tool {

namespace {

using scc_backend::cost_of;

/// Keeps a kernel's result, so that the compiler does not remove the kernel.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

/// Scans and hashes 8 KB of text, which fits L1 both here and on the chip.
cycles hash_text() {
  std::array<char, 8192> text;
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i * 7 % 26);
  keep(text);
  std::uint32_t hash = 5381;
  constexpr int rounds = 64;
  for (int round = 0; round < rounds; ++round) {
    for (const char c : text) hash = hash * 33 + static_cast<unsigned char>(c);
    keep(hash);
  }
  return cost_of(work::byte_hashed, rounds * static_cast<std::int64_t>(text.size()));
}

/// Sorts 1024 pseudo-random numbers: comparisons.
cycles sort_numbers() {
  std::array<std::uint32_t, 1024> numbers;
  std::uint32_t seed = 12345;
  for (auto& number : numbers) number = seed = seed * 1664525u + 1013904223u;
  std::int64_t comparisons = 0;
  std::sort(numbers.begin(), numbers.end(), [&](std::uint32_t a, std::uint32_t b) {
    ++comparisons;
    return a < b;
  });
  keep(numbers);
  return cost_of(work::comparison, comparisons);
}

/// Multiplies 24 x 24 blocks.
cycles multiply_blocks() {
  constexpr int n = 24;
  static double a[n][n], b[n][n], c[n][n];
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) a[i][j] = i - j, b[i][j] = i + j, c[i][j] = 0;
  }
  keep(a);
  constexpr int rounds = 16;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < n; ++k) {
        for (int j = 0; j < n; ++j) c[i][j] += a[i][k] * b[k][j];
      }
    }
    keep(c);
  }
  return cost_of(work::flop, std::int64_t{2} * n * n * n * rounds);
}

double fastest(cycles (*kernel)(), double seconds) {
  double best = 0;
  for (const double begin = thread_cpu_seconds(); thread_cpu_seconds() - begin < seconds;) {
    const double before = thread_cpu_seconds();
    const cycles counted = kernel();
    best = std::max(best, static_cast<double>(counted.count) / (thread_cpu_seconds() - before));
  }
  return best;
}

}  // namespace

calibration calibrate(double seconds) {
  calibration found;
  double logarithms = 0;
  const std::pair<const char*, cycles (*)()> kernels[] = {{"hash text", hash_text},
                                                          {"sort numbers", sort_numbers},
                                                          {"multiply blocks", multiply_blocks}};
  for (const auto& [name, kernel] : kernels) {
    found.kernels.push_back({name, fastest(kernel, seconds / std::size(kernels))});
    logarithms += std::log(found.kernels.back().cycles_a_second);
  }
  found.cycles_a_second = std::exp(logarithms / std::size(kernels));
  return found;
}

std::string calibration_file() {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  if (config != nullptr && *config != '\0') return std::string(config) + "/creek/clock.json";
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') {
    throw usage_error("calibration: neither XDG_CONFIG_HOME nor HOME is set");
  }
  return std::string(home) + "/.config/creek/clock.json";
}

void save_calibration(const calibration& found) {
  const std::filesystem::path name = calibration_file();
  std::error_code failed;
  std::filesystem::create_directories(name.parent_path(), failed);
  if (failed) throw error(failed, name.parent_path().string());
  json_value json{{"schema_version", 1}, {"cycles_a_host_second", found.cycles_a_second}};
  for (const auto& kernel : found.kernels) json["kernels"][kernel.name] = kernel.cycles_a_second;
  atomic_file file(name, atomic_file::targets::regular);
  file.write(json.dump(2) + "\n");
  file.commit();
}

namespace {

/// Returns the first bytes of a regular file, or nullopt if there is none.
std::optional<std::string> start_of_file(const std::string& name, std::size_t max_bytes) {
  std::string text(max_bytes, '\0');
  std::size_t got = 0;
  try {
    const open_file file(name, symbolic_links::follow);
    for (std::size_t more = 1; more != 0 && got < max_bytes; got += more) {
      more = file.read(text.data() + got, max_bytes - got);
    }
  } catch (const error& why) {
    const std::error_code code = why.code();
    if (code == std::errc::no_such_file_or_directory || code == std::errc::not_a_directory) {
      return std::nullopt;
    }
    throw;
  }
  text.resize(got);
  return text;
}

}  // namespace

double saved_calibration() {
  const std::string name = calibration_file();
  const std::optional<std::string> text = start_of_file(name, 64 << 10);
  if (!text) {
    throw usage_error(
        fmt::format("--clock measured: there is no {}: run `creek scc calibrate` first", name));
  }
  const std::optional<json_value> json = json_value::parse(*text);
  const json_value* const found = json ? json->find("cycles_a_host_second") : nullptr;
  const double factor = found != nullptr && found->is_number() ? found->as_number() : 0.0;
  if (!(factor > 0)) {
    throw usage_error(
        fmt::format("--clock measured: {} has no calibration: run `creek scc calibrate`", name));
  }
  return factor;
}

}  // namespace creek::tool

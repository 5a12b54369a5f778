// SPDX-License-Identifier: Apache-2.0
// A random call of linear algebra, judged by the residual that its answer leaves.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::testing {

class dice {
 public:
  explicit dice(std::uint64_t seed) : random_(seed) {}

  /// Returns a number from 0 to n - 1.
  index_t below(index_t n) {
    return static_cast<index_t>(random_() % static_cast<std::uint64_t>(n));
  }
  bool one_in(index_t n) { return below(n) == 0; }
  /// Returns a number in [-1, 1).
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-52 - 1; }
  /// Returns a number of rows or columns: many are small, some large, a few zero.
  index_t size() {
    const index_t kind = below(100);
    return kind < 45 ? below(48) : kind < 90 ? below(260) : kind < 99 ? below(600) : below(1300);
  }
  std::uint64_t seed() { return random_(); }

 private:
  std::mt19937_64 random_;
};

struct finding {
  std::string routine;  ///< "getrf d"
  std::string what;     ///< the whole call, in readable form
  double residual;  ///< scaled: good answers give about 1; it is infinite if anything else is wrong
  bool passed() const { return residual <= 30; }
};

/// Runs one call. Any thread; in a task the workers of its runtime take part.
finding run_case(std::uint64_t seed);
/// Runs one of the routines on tiles.
finding run_tile_case(dice& d);

/// Returns the file of the LAPACK that some solutions are compared with; empty if none.
std::string reference_lapack();

}  // namespace creek::linalg::testing

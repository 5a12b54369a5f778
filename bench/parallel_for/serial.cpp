// SPDX-License-Identifier: Apache-2.0
// Serial loops.
#include "config.hpp"

namespace bench::parallel_for {
namespace {

const registration with_axpy{axpy, [](const settings& s) {
                               return run_axpy(s, [](std::int64_t n, const double* x, double* y) {
                                 for (std::int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
                               });
                             }};

const registration with_sum{sum, [](const settings& s) {
                              return run_sum(s, [](std::int64_t n, const double* x) {
                                double total = 0;
                                for (std::int64_t i = 0; i < n; ++i) total += x[i];
                                return total;
                              });
                            }};

const registration with_loops{loop_20us, [](const settings& s) {
                                return run_loops(s, [](std::int64_t n, const auto& body) {
                                  for (std::int64_t i = 0; i < n; ++i) body(i);
                                });
                              }};

}  // namespace
}  // namespace bench::parallel_for

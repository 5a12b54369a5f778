// SPDX-License-Identifier: Apache-2.0
// A routine called inside a task of the creek that the library was linked with runs on the workers
// of that task's runtime.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <vector>

#include <creek/host.hpp>
#include <creek/tasking.hpp>

#include "linalg/random_matrix.hpp"

extern "C" void dgesv_(const std::int32_t* n, const std::int32_t* nrhs, double* a,
                       const std::int32_t* lda, std::int32_t* ipiv, double* b,
                       const std::int32_t* ldb, std::int32_t* info);

namespace creek::lapack {
namespace {

using namespace linalg::testing;

std::ptrdiff_t threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

TEST(a_task, calls_on_its_own_runtime) {
  std::mt19937 random(5);
  const std::int32_t n = 400, one = 1;
  linalg::matrix<double> a = random_matrix<double>(n, n, random), f = a;
  for (int i = 0; i < n; ++i) f(i, i) = a(i, i) += 100;
  const linalg::matrix<double> b = random_matrix<double>(n, 1, random);
  linalg::matrix<double> x = b;
  std::vector<std::int32_t> ipiv(n);
  const auto lda = static_cast<std::int32_t>(f.leading()),
             ldb = static_cast<std::int32_t>(x.leading());
  std::int32_t info = -1;

  runtime rt{host(2)};
  rt.run([] {});
  const auto before = threads();
  rt.run([&] { dgesv_(&n, &one, f.data(), &lda, ipiv.data(), x.data(), &ldb, &info); });
  EXPECT_EQ(threads(), before) << "no other workers were made";
  EXPECT_EQ(info, 0);
  EXPECT_LT(distance(product(a, x), b), 1e-9);
}

}  // namespace
}  // namespace creek::lapack

// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <creek/linalg/lu.hpp>

int main() {
  namespace la = creek::linalg;
  la::matrix<double> A(2, 2), b(2, 1);
  A(0, 1) = A(1, 0) = 2;
  A(1, 1) = 1;
  b(0, 0) = 4;
  b(1, 0) = 5;
  std::vector<la::index_t> pivots(2);
  if (la::gesv<double>(A.view(), pivots, b.view()) != 0) return 2;
  return b(0, 0) == 1.5 && b(1, 0) == 2 ? 0 : 1;
}

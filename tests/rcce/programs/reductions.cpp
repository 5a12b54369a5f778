// SPDX-License-Identifier: Apache-2.0
// Reductions of all types and operators, to one UE and to all, compared with one loop.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "RCCE.h"

namespace {

template <class T>
T value(int ue, int i) {
  return static_cast<T>((ue * 7 + i * 3) % 5 + 1);
}
template <class T>
T apply(int op, T a, T b) {
  switch (op) {
    case RCCE_SUM:
      return a + b;
    case RCCE_MIN:
      return std::min(a, b);
    case RCCE_MAX:
      return std::max(a, b);
    default:
      return a * b;
  }
}

template <class T>
int check(int type) {
  // A product of more values would overflow the integers.
  int failures = 0;
  const int me = RCCE_ue(), ues = RCCE_num_ues();
  for (const int n : {0, 1, 50, 700}) {
    for (const int op : {RCCE_SUM, RCCE_MIN, RCCE_MAX, RCCE_PROD}) {
      std::vector<T> in(n), out(n, T(-1)), expected(n, T(1));
      const auto of = [&](int ue, int i) {
        return op == RCCE_PROD && ue > 12 ? T(1) : value<T>(ue, i);
      };
      for (int i = 0; i < n; ++i) {
        in[i] = of(me, i);
        expected[i] = of(0, i);
        for (int ue = 1; ue < ues; ++ue) expected[i] = apply(op, expected[i], of(ue, i));
      }
      const auto same = [](T a, T b) {
        return std::abs(double(a) - double(b)) <= 1e-5 * double(b);
      };
      auto* from = reinterpret_cast<char*>(in.data());
      auto* to = reinterpret_cast<char*>(out.data());
      RCCE_allreduce(from, to, n, type, op, RCCE_COMM_WORLD);
      if (!std::equal(out.begin(), out.end(), expected.begin(), same)) ++failures;
      std::fill(out.begin(), out.end(), T(-1));
      const int root = ues / 2;
      RCCE_reduce(from, to, n, type, op, root, RCCE_COMM_WORLD);
      if (me != root) std::fill(expected.begin(), expected.end(), T(-1));
      if (!std::equal(out.begin(), out.end(), expected.begin(),
                      [&](T a, T b) { return a == b || same(a, b); })) {
        ++failures;
      }
    }
  }
  return failures;
}

}  // namespace

int RCCE_APP(int argc, char** argv) {
  RCCE_init(&argc, &argv);
  int failures = check<int>(RCCE_INT) + check<long>(RCCE_LONG) + check<float>(RCCE_FLOAT) +
                 check<double>(RCCE_DOUBLE);
  int one = 1, all = 0;
  auto* from = reinterpret_cast<char*>(&one);
  auto* to = reinterpret_cast<char*>(&all);
  if (RCCE_allreduce(from, to, 1, RCCE_INT, 4, RCCE_COMM_WORLD) != RCCE_ERROR_ILLEGAL_OP)
    ++failures;
  if (RCCE_allreduce(from, to, 1, 9, 0, RCCE_COMM_WORLD) != RCCE_ERROR_ILLEGAL_TYPE) ++failures;
  if (RCCE_reduce(from, to, 1, RCCE_INT, 0, 99, RCCE_COMM_WORLD) != RCCE_ERROR_ID) ++failures;
  RCCE_finalize();
  if (failures != 0) std::printf("UE %d: %d failures\n", RCCE_ue(), failures);
  return failures;
}

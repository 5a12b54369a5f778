// SPDX-License-Identifier: Apache-2.0
// Arguments of all routines, made invalid one by one, and the arguments that the program's own
// xerbla_, cblas_xerbla and LAPACKE_xerbla receive.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "lapack/names.hpp"

namespace creek::lapack::testing {

struct report {
  std::string routine;
  long position;
  bool operator==(const report&) const = default;
};
inline std::vector<report> reports;

inline std::ostream& operator<<(std::ostream& to, const report& r) {
  return to << r.routine << ' ' << r.position;
}

/// Valid arguments of all routines: matrices of 4 x 4 in columns of 5.
template <scalar T>
struct good {
  int layout = col_major;
  char uplo = 'L', trans = 'N', trans_b = 'N', diag = 'N', where = 'L';
  blas_int m = 4, n = 4, k = 4, nrhs = 4, lda = 5, ldb = 5, ldc = 5, lwork = 8;
  T *a = nullptr, *b = nullptr, *c = nullptr, *tau = nullptr, *work = nullptr;
  blas_int* ipiv = nullptr;

  int c_uplo() const { return uplo == 'L' ? 122 : 132; }  // 132 is valid, but for another argument
  int c_trans() const { return trans == 'N' ? 111 : 0; }
  int c_trans_b() const { return trans_b == 'N' ? 111 : 142; }
  int c_diag() const { return diag == 'N' ? 131 : 121; }
  int c_where() const { return where == 'L' ? 141 : 140; }
};

template <scalar T>
using change = std::function<void(good<T>&)>;

/// One bad argument, and its position in the list of one routine. A second one, later in the list,
/// is also made invalid: the first must be reported.
template <scalar T>
struct spoilt {
  int position;
  change<T> spoil;
};

// An invalid value for each argument, by its name in `good`.
#define CREEK_BAD(NAME, VALUE)   \
  template <scalar T>            \
  void bad_##NAME(good<T>& to) { \
    to.NAME = VALUE;             \
  }
CREEK_BAD(uplo, 'X')
CREEK_BAD(trans, '?')
CREEK_BAD(trans_b, 'M')
CREEK_BAD(diag, 'L')
CREEK_BAD(where, 'N')
CREEK_BAD(m, -1)
CREEK_BAD(n, -1)
CREEK_BAD(k, -3)
CREEK_BAD(nrhs, -1)
CREEK_BAD(lda, 3)
CREEK_BAD(ldb, 3)
CREEK_BAD(ldc, 0)
CREEK_BAD(lwork, 3)
#undef CREEK_BAD

template <class T>
class bad_arguments : public ::testing::Test {
 protected:
  bad_arguments() { reports.clear(); }

  std::mt19937 random{3};
  matrix<T> a = random_matrix<T>(5, 5, random), b = a, c = a;
  std::vector<blas_int> ipiv = std::vector<blas_int>(5, 7);
  std::vector<T> tau = std::vector<T>(5), work = std::vector<T>(8);

  good<T> arguments() {
    good<T> with;
    with.a = a.data();
    with.b = b.data();
    with.c = c.data();
    with.ipiv = ipiv.data();
    with.tau = tau.data();
    with.work = work.data();
    return with;
  }
  void expect_untouched(const matrix<T>& before) const {
    EXPECT_EQ(distance(a, before), 0);
    EXPECT_EQ(distance(b, before), 0);
    EXPECT_EQ(distance(c, before), 0);
    EXPECT_EQ(ipiv, std::vector<blas_int>(5, 7));
  }
  static std::string name(const std::string& routine) {
    std::string upper = letter<T> + routine;
    for (char& each : upper) each = static_cast<char>(std::toupper(each));
    upper.resize(std::max<std::size_t>(upper.size(), 6), ' ');
    return upper;
  }

  using call = std::function<blas_int(const good<T>&)>;
  /// Checks each bad argument alone and with the one after it.
  void check(const std::vector<spoilt<T>>& bad, const std::function<void(good<T>, int)>& expect) {
    const matrix<T> before = a;
    for (std::size_t i = 0; i < bad.size(); ++i) {
      good<T> with = arguments();
      bad[i].spoil(with);
      expect(with, bad[i].position);
      if (i + 1 < bad.size()) bad[i + 1].spoil(with);
      expect(with, bad[i].position);
    }
    expect_untouched(before);
  }

  /// Checks a LAPACK routine; `form` is the end of the name in C.
  void check_lapack(const std::string& routine, const std::vector<spoilt<T>>& bad,
                    const call& by_fortran, const call& by_c, const char* form = "") {
    check(bad, [&](const good<T>& with, int position) {
      reports.clear();
      EXPECT_EQ(by_fortran(with), -position);
      EXPECT_EQ(reports, std::vector({report{name(routine), position}}));
      reports.clear();
      EXPECT_EQ(by_c(with), -position - 1) << "the layout is argument 1";
      EXPECT_EQ(reports, std::vector({report{name(routine), position}}));
    });
    good<T> with = arguments();
    with.layout = 100;
    reports.clear();
    EXPECT_EQ(by_c(with), -1);
    EXPECT_EQ(reports,
              std::vector({report{std::string("LAPACKE_") + letter<T> + routine + form, -1}}));
  }
  void check_blas(const char* routine, const std::vector<spoilt<T>>& bad,
                  const std::function<void(const good<T>&)>& by_fortran,
                  const std::function<void(const good<T>&)>& by_c) {
    const std::string c_name = std::string("cblas_") + letter<T> + routine;
    check(bad, [&](good<T> with, int position) {
      reports.clear();
      by_fortran(with);
      EXPECT_EQ(reports, std::vector({report{name(routine), position}}));
      for (const int layout : {col_major, row_major}) {
        with.layout = layout;
        reports.clear();
        by_c(with);
        EXPECT_EQ(reports, std::vector({report{c_name, position + 1}}));
      }
    });
    good<T> with = arguments();
    with.layout = 0;
    reports.clear();
    by_c(with);
    EXPECT_EQ(reports, std::vector({report{c_name, 1}}));
  }
};

}  // namespace creek::lapack::testing

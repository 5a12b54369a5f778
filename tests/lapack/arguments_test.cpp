// SPDX-License-Identifier: Apache-2.0
// Every bad argument is reported by its place to the program's own xerbla_, cblas_xerbla and
// LAPACKE_xerbla, in LAPACK's order, and nothing is touched.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <string>
#include <vector>

#include "lapack/names.hpp"

namespace {

struct report {
  std::string routine;
  long position;
  bool operator==(const report&) const = default;
};
std::vector<report> reports;

std::ostream& operator<<(std::ostream& to, const report& r) {
  return to << r.routine << ' ' << r.position;
}

}  // namespace

extern "C" {
void xerbla_(const char* routine, const creek::lapack::testing::blas_int* position,
             std::size_t length) {
  reports.push_back({std::string(routine, length), static_cast<long>(*position)});
}
void cblas_xerbla(int position, const char* routine, const char*, ...) {
  reports.push_back({routine, position});
}
void LAPACKE_xerbla(const char* routine, creek::lapack::testing::blas_int info) {
  reports.push_back({routine, static_cast<long>(info)});
}
}

namespace creek::lapack::testing {
namespace {

/// Arguments of all routines, good ones: matrices of 4 x 4 in columns of 5.
template <scalar T>
struct good {
  int layout = col_major;
  char uplo = 'L', trans = 'N', trans_b = 'N', diag = 'N', where = 'L';
  blas_int m = 4, n = 4, k = 4, nrhs = 4, lda = 5, ldb = 5, ldc = 5, lwork = 8;
  T *a = nullptr, *b = nullptr, *c = nullptr, *tau = nullptr, *work = nullptr;
  blas_int* ipiv = nullptr;

  int c_uplo() const { return uplo == 'L' ? 122 : 132; }  // 132 means something, but elsewhere
  int c_trans() const { return trans == 'N' ? 111 : 0; }
  int c_trans_b() const { return trans_b == 'N' ? 111 : 142; }
  int c_diag() const { return diag == 'N' ? 131 : 121; }
  int c_where() const { return where == 'L' ? 141 : 140; }
};

template <scalar T>
using change = std::function<void(good<T>&)>;

/// One argument made bad, and its place in the list of one routine. A second one, later in the
/// list, is made bad too: the first counts.
template <scalar T>
struct spoilt {
  int position;
  change<T> spoil;
};

// A bad value for each argument by its name in `good`.
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
  /// Each bad argument by itself and with the one after it.
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

  /// `form` is what the name in C ends with.
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
TYPED_TEST_SUITE(bad_arguments, scalars);

TYPED_TEST(bad_arguments, of_lu) {
  using T = TypeParam;
  this->check_lapack(
      "getrf", {{1, bad_m<T>}, {2, bad_n<T>}, {4, bad_lda<T>}},
      [](const good<T>& g) { return lapack<T>("getrf", g.m, g.n, g.a, g.lda, g.ipiv); },
      [](const good<T>& g) { return lapacke<T>("getrf", g.layout, g.m, g.n, g.a, g.lda, g.ipiv); });
  this->check_lapack(
      "getrs",
      {{1, bad_trans<T>}, {2, bad_n<T>}, {3, bad_nrhs<T>}, {5, bad_lda<T>}, {8, bad_ldb<T>}},
      [](const good<T>& g) {
        return lapack<T>("getrs", g.trans, g.n, g.nrhs, g.a, g.lda, g.ipiv, g.b, g.ldb);
      },
      [](const good<T>& g) {
        return lapacke<T>("getrs", g.layout, g.trans, g.n, g.nrhs, g.a, g.lda, g.ipiv, g.b, g.ldb);
      });
  this->check_lapack(
      "gesv", {{1, bad_n<T>}, {2, bad_nrhs<T>}, {4, bad_lda<T>}, {7, bad_ldb<T>}},
      [](const good<T>& g) {
        return lapack<T>("gesv", g.n, g.nrhs, g.a, g.lda, g.ipiv, g.b, g.ldb);
      },
      [](const good<T>& g) {
        return lapacke<T>("gesv", g.layout, g.n, g.nrhs, g.a, g.lda, g.ipiv, g.b, g.ldb);
      });
}

TYPED_TEST(bad_arguments, of_cholesky) {
  using T = TypeParam;
  this->check_lapack(
      "potrf", {{1, bad_uplo<T>}, {2, bad_n<T>}, {4, bad_lda<T>}},
      [](const good<T>& g) { return lapack<T>("potrf", g.uplo, g.n, g.a, g.lda); },
      [](const good<T>& g) { return lapacke<T>("potrf", g.layout, g.uplo, g.n, g.a, g.lda); });
  for (const char* name : {"potrs", "posv"}) {
    this->check_lapack(
        name, {{1, bad_uplo<T>}, {2, bad_n<T>}, {3, bad_nrhs<T>}, {5, bad_lda<T>}, {7, bad_ldb<T>}},
        [&](const good<T>& g) {
          return lapack<T>(name, g.uplo, g.n, g.nrhs, g.a, g.lda, g.b, g.ldb);
        },
        [&](const good<T>& g) {
          return lapacke<T>(name, g.layout, g.uplo, g.n, g.nrhs, g.a, g.lda, g.b, g.ldb);
        });
  }
}

TYPED_TEST(bad_arguments, of_triangles) {
  using T = TypeParam;
  this->check_lapack(
      "trtrs",
      {{1, bad_uplo<T>},
       {2, bad_trans<T>},
       {3, bad_diag<T>},
       {4, bad_n<T>},
       {5, bad_nrhs<T>},
       {7, bad_lda<T>},
       {9, bad_ldb<T>}},
      [](const good<T>& g) {
        return lapack<T>("trtrs", g.uplo, g.trans, g.diag, g.n, g.nrhs, g.a, g.lda, g.b, g.ldb);
      },
      [](const good<T>& g) {
        return lapacke<T>("trtrs", g.layout, g.uplo, g.trans, g.diag, g.n, g.nrhs, g.a, g.lda, g.b,
                          g.ldb);
      });
  for (const char* name : {"trmm", "trsm"}) {
    this->check_blas(
        name,
        {{1, bad_where<T>},
         {2, bad_uplo<T>},
         {3, bad_trans<T>},
         {4, bad_diag<T>},
         {5, bad_m<T>},
         {6, bad_n<T>},
         {9, bad_lda<T>},
         {11, bad_ldb<T>}},
        [&](const good<T>& g) {
          fortran<T>(name, g.where, g.uplo, g.trans, g.diag, g.m, g.n, T{1}, g.a, g.lda, g.b,
                     g.ldb);
        },
        [&](const good<T>& g) {
          cblas<T>(name, g.layout, g.c_where(), g.c_uplo(), g.c_trans(), g.c_diag(), g.m, g.n,
                   c_value(T{1}), g.a, g.lda, g.b, g.ldb);
        });
  }
}

TYPED_TEST(bad_arguments, of_products) {
  using T = TypeParam;
  this->check_blas(
      "gemm",
      {{1, bad_trans<T>},
       {2, bad_trans_b<T>},
       {3, bad_m<T>},
       {4, bad_n<T>},
       {5, bad_k<T>},
       {8, bad_lda<T>},
       {10, bad_ldb<T>},
       {13, bad_ldc<T>}},
      [](const good<T>& g) {
        fortran<T>("gemm", g.trans, g.trans_b, g.m, g.n, g.k, T{1}, g.a, g.lda, g.b, g.ldb, T{1},
                   g.c, g.ldc);
      },
      [](const good<T>& g) {
        cblas<T>("gemm", g.layout, g.c_trans(), g.c_trans_b(), g.m, g.n, g.k, c_value(T{1}), g.a,
                 g.lda, g.b, g.ldb, c_value(T{1}), g.c, g.ldc);
      });
  for (const char* name : {"symm", "hemm"}) {
    if (!is_complex<T> && *name == 'h') continue;
    this->check_blas(
        name,
        {{1, bad_where<T>},
         {2, bad_uplo<T>},
         {3, bad_m<T>},
         {4, bad_n<T>},
         {7, bad_lda<T>},
         {9, bad_ldb<T>},
         {12, bad_ldc<T>}},
        [&](const good<T>& g) {
          fortran<T>(name, g.where, g.uplo, g.m, g.n, T{1}, g.a, g.lda, g.b, g.ldb, T{1}, g.c,
                     g.ldc);
        },
        [&](const good<T>& g) {
          cblas<T>(name, g.layout, g.c_where(), g.c_uplo(), g.m, g.n, c_value(T{1}), g.a, g.lda,
                   g.b, g.ldb, c_value(T{1}), g.c, g.ldc);
        });
  }
}

TYPED_TEST(bad_arguments, of_inverses) {
  using T = TypeParam;
  this->check_lapack(
      "getri", {{1, bad_n<T>}, {3, bad_lda<T>}, {6, bad_lwork<T>}},
      [](const good<T>& g) { return lapack<T>("getri", g.n, g.a, g.lda, g.ipiv, g.work, g.lwork); },
      [](const good<T>& g) {
        return lapacke<T>("getri_work", g.layout, g.n, g.a, g.lda, g.ipiv, g.work, g.lwork);
      },
      "_work");
  this->check_lapack(
      "potri", {{1, bad_uplo<T>}, {2, bad_n<T>}, {4, bad_lda<T>}},
      [](const good<T>& g) { return lapack<T>("potri", g.uplo, g.n, g.a, g.lda); },
      [](const good<T>& g) { return lapacke<T>("potri", g.layout, g.uplo, g.n, g.a, g.lda); });
  this->check_lapack(
      "trtri", {{1, bad_uplo<T>}, {2, bad_diag<T>}, {3, bad_n<T>}, {5, bad_lda<T>}},
      [](const good<T>& g) { return lapack<T>("trtri", g.uplo, g.diag, g.n, g.a, g.lda); },
      [](const good<T>& g) {
        return lapacke<T>("trtri", g.layout, g.uplo, g.diag, g.n, g.a, g.lda);
      });
}

TYPED_TEST(bad_arguments, of_qr) {
  using T = TypeParam;
  this->check_lapack(
      "geqrf", {{1, bad_m<T>}, {2, bad_n<T>}, {4, bad_lda<T>}, {7, bad_lwork<T>}},
      [](const good<T>& g) {
        return lapack<T>("geqrf", g.m, g.n, g.a, g.lda, g.tau, g.work, g.lwork);
      },
      [](const good<T>& g) {
        return lapacke<T>("geqrf_work", g.layout, g.m, g.n, g.a, g.lda, g.tau, g.work, g.lwork);
      },
      "_work");
  const std::string mqr = of_q<T>("mqr"), gqr = of_q<T>("gqr");
  this->check_lapack(
      gqr, {{1, bad_m<T>}, {2, bad_n<T>}, {3, bad_k<T>}, {5, bad_lda<T>}, {8, bad_lwork<T>}},
      [&](const good<T>& g) {
        return lapack<T>(gqr, g.m, g.n, g.k, g.a, g.lda, g.tau, g.work, g.lwork);
      },
      [&](const good<T>& g) {
        return lapacke<T>(gqr + "_work", g.layout, g.m, g.n, g.k, g.a, g.lda, g.tau, g.work,
                          g.lwork);
      },
      "_work");
  this->check_lapack(
      mqr,
      {{1, bad_where<T>},
       {2, bad_trans<T>},
       {3, bad_m<T>},
       {4, bad_n<T>},
       {5, bad_k<T>},
       {7, bad_lda<T>},
       {10, bad_ldc<T>},
       {12, bad_lwork<T>}},
      [&](const good<T>& g) {
        return lapack<T>(mqr, g.where, g.trans, g.m, g.n, g.k, g.a, g.lda, g.tau, g.c, g.ldc,
                         g.work, g.lwork);
      },
      [&](const good<T>& g) {
        return lapacke<T>(mqr + "_work", g.layout, g.where, g.trans, g.m, g.n, g.k, g.a, g.lda,
                          g.tau, g.c, g.ldc, g.work, g.lwork);
      },
      "_work");
  this->check_lapack(
      "gels",
      {{1, bad_trans<T>},
       {2, bad_m<T>},
       {3, bad_n<T>},
       {4, bad_nrhs<T>},
       {6, bad_lda<T>},
       {8, bad_ldb<T>},
       {10, bad_lwork<T>}},
      [](const good<T>& g) {
        return lapack<T>("gels", g.trans, g.m, g.n, g.nrhs, g.a, g.lda, g.b, g.ldb, g.work,
                         g.lwork);
      },
      [](const good<T>& g) {
        return lapacke<T>("gels_work", g.layout, g.trans, g.m, g.n, g.nrhs, g.a, g.lda, g.b, g.ldb,
                          g.work, g.lwork);
      },
      "_work");
}

TYPED_TEST(bad_arguments, of_qr_that_do_not_fit_each_other) {
  using T = TypeParam;
  const good<T> g = this->arguments();
  const std::string mqr = of_q<T>("mqr"), gqr = of_q<T>("gqr");
  const char other = is_complex<T> ? 'T' : 'C';  // the transpose that Q has not
  const auto orgqr = [&](blas_int n, blas_int k) {
    return lapack<T>(gqr, 4, n, k, g.a, 5, g.tau, g.work, 8);
  };
  const auto ormqr = [&](char where, char trans, blas_int m, blas_int n, blas_int lwork) {
    return lapack<T>(mqr, where, trans, m, n, 4, g.a, 5, g.tau, g.c, 5, g.work, lwork);
  };
  const auto geqrf = [&](blas_int m, blas_int lwork) {
    return lapack<T>("geqrf", m, 4, g.a, 5, g.tau, g.work, lwork);
  };
  EXPECT_EQ(orgqr(5, 4), -2);
  EXPECT_EQ(orgqr(3, 4), -3);
  EXPECT_EQ(ormqr('L', other, 4, 4, 4), -2);
  EXPECT_EQ(ormqr('L', 'N', 3, 4, 4), -5);
  EXPECT_EQ(ormqr('R', 'N', 4, 3, 4), -5);
  EXPECT_EQ(ormqr('L', 'N', 4, 5, 4), -12);
  EXPECT_EQ(lapack<T>("gels", other, 4, 4, 4, g.a, 5, g.b, 5, g.work, 8), -1);
  EXPECT_EQ(lapack<T>("gels", 'N', 4, 2, 4, g.a, 5, g.b, 5, g.work, 5), -10);
  EXPECT_EQ(lapack<T>("gels", 'N', 2, 4, 1, g.a, 5, g.b, 3, g.work, 8), -8);
  EXPECT_EQ(geqrf(0, 0), -7);
  EXPECT_EQ(reports.size(), 10U);
  EXPECT_EQ(geqrf(0, 1), 0) << "no rows need no space";
  EXPECT_EQ(reports.size(), 10U);
}

/// The updates whose scalars beside the factors are of type S.
template <scalar T, scalar S>
void fortran_rank_k(const char* name, const good<T>& g) {
  fortran<T>(name, g.uplo, g.trans, g.n, g.k, S{1}, g.a, g.lda, S{1}, g.c, g.ldc);
}
template <scalar T, scalar S>
void cblas_rank_k(const char* name, const good<T>& g) {
  cblas<T>(name, g.layout, g.c_uplo(), g.c_trans(), g.n, g.k, c_value(S{1}), g.a, g.lda,
           c_value(S{1}), g.c, g.ldc);
}
template <scalar T, scalar S>
void fortran_rank_2k(const char* name, const good<T>& g) {
  fortran<T>(name, g.uplo, g.trans, g.n, g.k, T{1}, g.a, g.lda, g.b, g.ldb, S{1}, g.c, g.ldc);
}
template <scalar T, scalar S>
void cblas_rank_2k(const char* name, const good<T>& g) {
  cblas<T>(name, g.layout, g.c_uplo(), g.c_trans(), g.n, g.k, c_value(T{1}), g.a, g.lda, g.b, g.ldb,
           c_value(S{1}), g.c, g.ldc);
}

TYPED_TEST(bad_arguments, of_updates) {
  using T = TypeParam;
  const std::vector<spoilt<T>> one{{1, bad_uplo<T>}, {2, bad_trans<T>}, {3, bad_n<T>},
                                   {4, bad_k<T>},    {7, bad_lda<T>},   {10, bad_ldc<T>}};
  const std::vector<spoilt<T>> two{{1, bad_uplo<T>}, {2, bad_trans<T>}, {3, bad_n<T>},
                                   {4, bad_k<T>},    {7, bad_lda<T>},   {9, bad_ldb<T>},
                                   {12, bad_ldc<T>}};
  this->check_blas("syrk", one, std::bind_front(fortran_rank_k<T, T>, "syrk"),
                   std::bind_front(cblas_rank_k<T, T>, "syrk"));
  this->check_blas("syr2k", two, std::bind_front(fortran_rank_2k<T, T>, "syr2k"),
                   std::bind_front(cblas_rank_2k<T, T>, "syr2k"));
  if constexpr (is_complex<T>) {
    using R = real<T>;
    this->check_blas("herk", one, std::bind_front(fortran_rank_k<T, R>, "herk"),
                     std::bind_front(cblas_rank_k<T, R>, "herk"));
    this->check_blas("her2k", two, std::bind_front(fortran_rank_2k<T, R>, "her2k"),
                     std::bind_front(cblas_rank_2k<T, R>, "her2k"));
    reports.clear();
    good<T> with = this->arguments();
    with.trans = 'C';
    fortran_rank_k<T, T>("syrk", with);
    with.trans = 'T';
    fortran_rank_2k<T, R>("her2k", with);
    EXPECT_EQ(reports,
              std::vector({report{this->name("syrk"), 2}, report{this->name("her2k"), 2}}));
  }
}

TYPED_TEST(bad_arguments, row_major_leading_dimensions_hold_a_row) {
  using T = TypeParam;
  const std::string base = std::string("LAPACKE_") + letter<T>;
  reports.clear();
  T* const x = this->a.data();
  auto* const p = this->ipiv.data();
  EXPECT_EQ(lapacke<T>("getrf", row_major, 1, 4, x, 3, p), -5);
  EXPECT_EQ(lapacke<T>("getrs", row_major, 'N', 2, 4, x, 2, p, x, 3), -9);
  EXPECT_EQ(lapacke<T>("gesv", row_major, 2, 4, x, 2, p, x, 3), -8);
  EXPECT_EQ(lapacke<T>("potrf_work", row_major, 'L', 4, x, 3), -5);
  EXPECT_EQ(lapacke<T>("potrs", row_major, 'L', 4, 1, x, 3, x, 1), -6);
  EXPECT_EQ(lapacke<T>("posv", row_major, 'L', 2, 4, x, 2, x, 3), -8);
  EXPECT_EQ(lapacke<T>("trtrs", row_major, 'L', 'N', 'N', 2, 4, x, 2, x, 3), -10);
  EXPECT_EQ(lapacke<T>("laswp", row_major, 4, x, 3, 1, 2, p, 1), -4);
  EXPECT_EQ(reports,
            std::vector({report{base + "getrf_work", -5}, report{base + "getrs_work", -9},
                         report{base + "gesv_work", -8}, report{base + "potrf_work", -5},
                         report{base + "potrs_work", -6}, report{base + "posv_work", -8},
                         report{base + "trtrs_work", -10}, report{base + "laswp_work", -4}}));
  reports.clear();
  const std::string mqr = of_q<T>("mqr"), gqr = of_q<T>("gqr");
  EXPECT_EQ(lapacke<T>("getri", row_major, 4, x, 3, p), -4);
  EXPECT_EQ(lapacke<T>("potri", row_major, 'L', 4, x, 3), -5);
  EXPECT_EQ(lapacke<T>("trtri", row_major, 'L', 'N', 4, x, 3), -6);
  EXPECT_EQ(lapacke<T>("geqrf", row_major, 1, 4, x, 3, x), -5);
  EXPECT_EQ(lapacke<T>(gqr, row_major, 5, 4, 4, x, 3, x), -6);
  EXPECT_EQ(lapacke<T>(mqr, row_major, 'R', 'N', 1, 4, 4, x, 3, x, x, 4), -8);
  EXPECT_EQ(lapacke<T>(mqr, row_major, 'R', 'N', 1, 4, 4, x, 4, x, x, 3), -11);
  EXPECT_EQ(lapacke<T>("gels", row_major, 'N', 1, 4, 1, x, 3, x, 1), -7);
  EXPECT_EQ(lapacke<T>("gels", row_major, 'N', 1, 4, 2, x, 4, x, 1), -9);
  EXPECT_EQ(reports,
            std::vector({report{base + "getri_work", -4}, report{base + "potri_work", -5},
                         report{base + "trtri_work", -6}, report{base + "geqrf_work", -5},
                         report{base + gqr + "_work", -6}, report{base + mqr + "_work", -8},
                         report{base + mqr + "_work", -11}, report{base + "gels_work", -7},
                         report{base + "gels_work", -9}}));
}

}  // namespace
}  // namespace creek::lapack::testing

// SPDX-License-Identifier: Apache-2.0
// Every bad argument of LAPACK's routines is reported by its position, in LAPACK's order, and no
// data are touched.
#include "lapack/bad_arguments.hpp"

extern "C" {
void xerbla_(const char* routine, const creek::lapack::testing::blas_int* position,
             std::size_t length) {
  creek::lapack::testing::reports.push_back(
      {std::string(routine, length), static_cast<long>(*position)});
}
void cblas_xerbla(int position, const char* routine, const char*, ...) {
  creek::lapack::testing::reports.push_back({routine, position});
}
void LAPACKE_xerbla(const char* routine, creek::lapack::testing::blas_int info) {
  creek::lapack::testing::reports.push_back({routine, static_cast<long>(info)});
}
}

namespace creek::lapack::testing {
namespace {

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

TYPED_TEST(bad_arguments, of_condition_numbers) {
  using T = TypeParam;
  real<T> rcond = 0;
  const auto norm = [](const good<T>& g) { return g.trans == 'N' ? '1' : '/'; };
  const auto anorm = [](const good<T>& g) { return static_cast<real<T>>(g.k); };
  this->check_lapack(
      "gecon", {{1, bad_trans<T>}, {2, bad_n<T>}, {4, bad_lda<T>}, {5, bad_k<T>}},
      [&](const good<T>& g) {
        real<T> size = anorm(g);
        return lapack<T>("gecon", norm(g), g.n, g.a, g.lda, &size, &rcond, g.work, g.ipiv);
      },
      [&](const good<T>& g) {
        return lapacke<T>("gecon", g.layout, norm(g), g.n, g.a, g.lda, anorm(g), &rcond);
      });
  this->check_lapack(
      "pocon", {{1, bad_uplo<T>}, {2, bad_n<T>}, {4, bad_lda<T>}, {5, bad_k<T>}},
      [&](const good<T>& g) {
        real<T> size = anorm(g);
        return lapack<T>("pocon", g.uplo, g.n, g.a, g.lda, &size, &rcond, g.work, g.ipiv);
      },
      [&](const good<T>& g) {
        return lapacke<T>("pocon_work", g.layout, g.uplo, g.n, g.a, g.lda, anorm(g), &rcond, g.work,
                          g.ipiv);
      },
      "_work");
  this->check_lapack(
      "trcon",
      {{1, bad_trans<T>}, {2, bad_uplo<T>}, {3, bad_diag<T>}, {4, bad_n<T>}, {6, bad_lda<T>}},
      [&](const good<T>& g) {
        return lapack<T>("trcon", norm(g), g.uplo, g.diag, g.n, g.a, g.lda, &rcond, g.work, g.ipiv);
      },
      [&](const good<T>& g) {
        return lapacke<T>("trcon", g.layout, norm(g), g.uplo, g.diag, g.n, g.a, g.lda, &rcond);
      });
  EXPECT_EQ(rcond, 0);
}

TYPED_TEST(bad_arguments, of_refinement) {
  using T = TypeParam;
  const auto bounds = [](const good<T>& g) { return reinterpret_cast<real<T>*>(g.tau); };
  // The factors have the leading dimension m + 1, and X has ldc.
  this->check_lapack(
      "gerfs",
      {{1, bad_trans<T>},
       {2, bad_n<T>},
       {3, bad_nrhs<T>},
       {5, bad_lda<T>},
       {7, bad_m<T>},
       {10, bad_ldb<T>},
       {12, bad_ldc<T>}},
      [&](const good<T>& g) {
        return lapack<T>("gerfs", g.trans, g.n, g.nrhs, g.a, g.lda, g.a, g.m + 1, g.ipiv, g.b,
                         g.ldb, g.c, g.ldc, bounds(g), bounds(g), g.work, g.ipiv);
      },
      [&](const good<T>& g) {
        return lapacke<T>("gerfs", g.layout, g.trans, g.n, g.nrhs, g.a, g.lda, g.a, g.m + 1, g.ipiv,
                          g.b, g.ldb, g.c, g.ldc, bounds(g), bounds(g));
      });
  this->check_lapack(
      "porfs",
      {{1, bad_uplo<T>},
       {2, bad_n<T>},
       {3, bad_nrhs<T>},
       {5, bad_lda<T>},
       {7, bad_m<T>},
       {9, bad_ldb<T>},
       {11, bad_ldc<T>}},
      [&](const good<T>& g) {
        return lapack<T>("porfs", g.uplo, g.n, g.nrhs, g.a, g.lda, g.a, g.m + 1, g.b, g.ldb, g.c,
                         g.ldc, bounds(g), bounds(g), g.work, g.ipiv);
      },
      [&](const good<T>& g) {
        return lapacke<T>("porfs_work", g.layout, g.uplo, g.n, g.nrhs, g.a, g.lda, g.a, g.m + 1,
                          g.b, g.ldb, g.c, g.ldc, bounds(g), bounds(g), g.work, g.ipiv);
      },
      "_work");
}

TYPED_TEST(bad_arguments, of_solvers_in_two_precisions) {
  using T = TypeParam;
  if constexpr (std::is_same_v<T, double>) {
    auto* const low = reinterpret_cast<float*>(this->tau.data());
    blas_int iter = 7;
    this->check_lapack(
        "sgesv",
        {{1, bad_n<T>}, {2, bad_nrhs<T>}, {4, bad_lda<T>}, {7, bad_ldb<T>}, {9, bad_ldc<T>}},
        [&](const good<T>& g) {
          return lapack<T>("sgesv", g.n, g.nrhs, g.a, g.lda, g.ipiv, g.b, g.ldb, g.c, g.ldc, g.work,
                           low, &iter);
        },
        [&](const good<T>& g) {
          return lapacke<T>("sgesv", g.layout, g.n, g.nrhs, g.a, g.lda, g.ipiv, g.b, g.ldb, g.c,
                            g.ldc, &iter);
        });
    this->check_lapack(
        "sposv",
        {{1, bad_uplo<T>},
         {2, bad_n<T>},
         {3, bad_nrhs<T>},
         {5, bad_lda<T>},
         {7, bad_ldb<T>},
         {9, bad_ldc<T>}},
        [&](const good<T>& g) {
          return lapack<T>("sposv", g.uplo, g.n, g.nrhs, g.a, g.lda, g.b, g.ldb, g.c, g.ldc, g.work,
                           low, &iter);
        },
        [&](const good<T>& g) {
          return lapacke<T>("sposv", g.layout, g.uplo, g.n, g.nrhs, g.a, g.lda, g.b, g.ldb, g.c,
                            g.ldc, &iter);
        });
    EXPECT_EQ(iter, 0);
  }
}

TYPED_TEST(bad_arguments, of_qr) {
  using T = TypeParam;
  for (const std::string factor : {"geqrf", "gelqf"}) {
    this->check_lapack(
        factor, {{1, bad_m<T>}, {2, bad_n<T>}, {4, bad_lda<T>}, {7, bad_lwork<T>}},
        [&](const good<T>& g) {
          return lapack<T>(factor, g.m, g.n, g.a, g.lda, g.tau, g.work, g.lwork);
        },
        [&](const good<T>& g) {
          return lapacke<T>(factor + "_work", g.layout, g.m, g.n, g.a, g.lda, g.tau, g.work,
                            g.lwork);
        },
        "_work");
  }
  for (const std::string& gq : {of_q<T>("gqr"), of_q<T>("glq")}) {
    this->check_lapack(
        gq, {{1, bad_m<T>}, {2, bad_n<T>}, {3, bad_k<T>}, {5, bad_lda<T>}, {8, bad_lwork<T>}},
        [&](const good<T>& g) {
          return lapack<T>(gq, g.m, g.n, g.k, g.a, g.lda, g.tau, g.work, g.lwork);
        },
        [&](const good<T>& g) {
          return lapacke<T>(gq + "_work", g.layout, g.m, g.n, g.k, g.a, g.lda, g.tau, g.work,
                            g.lwork);
        },
        "_work");
  }
  const std::string mqr = of_q<T>("mqr");
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
  real<T> rwork[8];
  const auto with_work = [&](const good<T>& g, auto call) {
    if constexpr (is_complex<T>) {
      return call(g.work, g.lwork, +rwork);
    } else {
      return call(g.work, g.lwork);
    }
  };
  this->check_lapack(
      "geqp3", {{1, bad_m<T>}, {2, bad_n<T>}, {4, bad_lda<T>}, {8, bad_lwork<T>}},
      [&](const good<T>& g) {
        return with_work(g, [&](auto... space) {
          return lapack<T>("geqp3", g.m, g.n, g.a, g.lda, g.ipiv, g.tau, space...);
        });
      },
      [&](const good<T>& g) {
        return with_work(g, [&](auto... space) {
          return lapacke<T>("geqp3_work", g.layout, g.m, g.n, g.a, g.lda, g.ipiv, g.tau, space...);
        });
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
  const char other = is_complex<T> ? 'T' : 'C';  // the transpose that Q does not have
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
  real<T>* const r = reinterpret_cast<real<T>*>(this->tau.data());
  const real<T> one = 1;
  EXPECT_EQ(lapacke<T>("gecon", row_major, '1', 4, x, 3, one, r), -5);
  EXPECT_EQ(lapacke<T>("trcon", row_major, '1', 'U', 'N', 4, x, 3, r), -7);
  EXPECT_EQ(lapacke<T>("gerfs", row_major, 'N', 2, 3, x, 2, x, 2, p, x, 3, x, 2, r, r), -13);
  EXPECT_EQ(reports, std::vector({report{base + "getrf_work", -5}, report{base + "getrs_work", -9},
                                  report{base + "gesv_work", -8}, report{base + "potrf_work", -5},
                                  report{base + "potrs_work", -6}, report{base + "posv_work", -8},
                                  report{base + "trtrs_work", -10}, report{base + "laswp_work", -4},
                                  report{base + "gecon_work", -5}, report{base + "trcon_work", -7},
                                  report{base + "gerfs_work", -13}}));
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

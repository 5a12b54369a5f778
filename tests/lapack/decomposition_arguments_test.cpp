// SPDX-License-Identifier: Apache-2.0
// The same as arguments_test.cpp for the routines of eigenvalues and singular values.
#include "lapack/bad_arguments.hpp"

namespace creek::lapack::testing {
namespace {

template <class T>
class bad_decomposition_arguments : public bad_arguments<T> {};
TYPED_TEST_SUITE(bad_decomposition_arguments, scalars);

/// Calls a routine for eigenvalues with its workspaces, all of the same length.
template <scalar T, class Call>
blas_int with_eigen_work(blas_int lwork, Call call) {
  std::vector<T> work(400);
  std::vector<real<T>> rwork(400);
  std::vector<blas_int> iwork(400);
  const blas_int length = lwork == 3 ? 3 : 400, most = 400;
  if constexpr (is_complex<T>) {
    return call(work.data(), length, rwork.data(), most, iwork.data(), most);
  } else {
    return call(work.data(), length, iwork.data(), most);
  }
}

TYPED_TEST(bad_decomposition_arguments, of_eigenvalues) {
  using T = TypeParam;
  const std::string group = is_complex<T> ? "he" : "sy";
  std::vector<real<T>> w(4), e(4);
  std::vector<blas_int> support(8);
  blas_int m = 0;
  const real<T> zero = 0;
  this->check_lapack(
      group + "evd", {{2, bad_uplo<T>}, {3, bad_n<T>}, {5, bad_lda<T>}, {8, bad_lwork<T>}},
      [&](const good<T>& g) {
        return with_eigen_work<T>(g.lwork, [&](auto... space) {
          return lapack<T>(group + "evd", 'V', g.uplo, g.n, g.a, g.lda, w.data(), space...);
        });
      },
      [&](const good<T>& g) {
        return with_eigen_work<T>(g.lwork, [&](auto... space) {
          return lapacke<T>(group + "evd_work", g.layout, 'V', g.uplo, g.n, g.a, g.lda, w.data(),
                            space...);
        });
      },
      "_work");
  this->check_lapack(
      group + "evr",
      {{3, bad_uplo<T>}, {4, bad_n<T>}, {6, bad_lda<T>}, {15, bad_ldc<T>}, {18, bad_lwork<T>}},
      [&](const good<T>& g) {
        return with_eigen_work<T>(g.lwork, [&](auto... space) {
          return lapack<T>(group + "evr", 'V', 'A', g.uplo, g.n, g.a, g.lda, zero, zero, 1, 1, zero,
                           &m, w.data(), g.c, g.ldc, support.data(), space...);
        });
      },
      [&](const good<T>& g) {
        return with_eigen_work<T>(g.lwork, [&](auto... space) {
          return lapacke<T>(group + "evr_work", g.layout, 'V', 'A', g.uplo, g.n, g.a, g.lda, zero,
                            zero, 1, 1, zero, &m, w.data(), g.c, g.ldc, support.data(), space...);
        });
      },
      "_work");
  this->check_lapack(
      group + "trd", {{1, bad_uplo<T>}, {2, bad_n<T>}, {4, bad_lda<T>}},
      [&](const good<T>& g) {
        return lapack<T>(group + "trd", g.uplo, g.n, g.a, g.lda, w.data(), e.data(), g.tau, g.work,
                         g.lwork);
      },
      [&](const good<T>& g) {
        return lapacke<T>(group + "trd", g.layout, g.uplo, g.n, g.a, g.lda, w.data(), e.data(),
                          g.tau);
      });
  this->check_lapack(
      of_q<T>("mtr"),
      {{1, bad_where<T>},
       {2, bad_uplo<T>},
       {3, bad_trans<T>},
       {4, bad_m<T>},
       {5, bad_n<T>},
       {7, bad_lda<T>},
       {10, bad_ldc<T>},
       {12, bad_lwork<T>}},
      [&](const good<T>& g) {
        return lapack<T>(of_q<T>("mtr"), g.where, g.uplo, g.trans, g.m, g.n, g.a, g.lda, g.tau, g.c,
                         g.ldc, g.work, g.lwork);
      },
      [&](const good<T>& g) {
        return lapacke<T>(of_q<T>("mtr_work"), g.layout, g.where, g.uplo, g.trans, g.m, g.n, g.a,
                          g.lda, g.tau, g.c, g.ldc, g.work, g.lwork);
      },
      "_work");
}

TYPED_TEST(bad_decomposition_arguments, of_eigenvalues_of_two_matrices) {
  using T = TypeParam;
  const std::string group = is_complex<T> ? "he" : "sy";
  std::vector<real<T>> w(4), rwork(20);
  // The number of the equation is k if that is bad.
  const auto itype = [](const good<T>& g) { return g.k < 0 ? g.k : 1; };
  this->check_lapack(
      group + "gst",
      {{1, bad_k<T>}, {2, bad_uplo<T>}, {3, bad_n<T>}, {5, bad_lda<T>}, {7, bad_ldb<T>}},
      [&](const good<T>& g) {
        return lapack<T>(group + "gst", itype(g), g.uplo, g.n, g.a, g.lda, g.b, g.ldb);
      },
      [&](const good<T>& g) {
        return lapacke<T>(group + "gst", g.layout, itype(g), g.uplo, g.n, g.a, g.lda, g.b, g.ldb);
      });
  const std::vector<spoilt<T>> bad{{1, bad_k<T>},     {2, bad_trans<T>}, {3, bad_uplo<T>},
                                   {4, bad_n<T>},     {6, bad_lda<T>},   {8, bad_ldb<T>},
                                   {11, bad_lwork<T>}};
  // The job is trans: 'N'.
  const auto with_work = [&](const good<T>& g, auto call) {
    if constexpr (is_complex<T>) {
      return call(g.work, g.lwork, rwork.data());
    } else {
      return call(g.work, g.lwork);
    }
  };
  this->check_lapack(
      group + "gv", bad,
      [&](const good<T>& g) {
        return with_work(g, [&](auto... space) {
          return lapack<T>(group + "gv", itype(g), g.trans, g.uplo, g.n, g.a, g.lda, g.b, g.ldb,
                           w.data(), space...);
        });
      },
      [&](const good<T>& g) {
        return with_work(g, [&](auto... space) {
          return lapacke<T>(group + "gv_work", g.layout, itype(g), g.trans, g.uplo, g.n, g.a, g.lda,
                            g.b, g.ldb, w.data(), space...);
        });
      },
      "_work");
  this->check_lapack(
      group + "gvd", bad,
      [&](const good<T>& g) {
        return with_eigen_work<T>(g.lwork, [&](auto... space) {
          return lapack<T>(group + "gvd", itype(g), g.trans, g.uplo, g.n, g.a, g.lda, g.b, g.ldb,
                           w.data(), space...);
        });
      },
      [&](const good<T>& g) {
        return with_eigen_work<T>(g.lwork, [&](auto... space) {
          return lapacke<T>(group + "gvd_work", g.layout, itype(g), g.trans, g.uplo, g.n, g.a,
                            g.lda, g.b, g.ldb, w.data(), space...);
        });
      },
      "_work");
}

TYPED_TEST(bad_decomposition_arguments, of_balancing) {
  using T = TypeParam;
  const auto scale = [](const good<T>& g) { return reinterpret_cast<real<T>*>(g.tau); };
  this->check_lapack(
      "gebal", {{1, bad_trans<T>}, {2, bad_n<T>}, {4, bad_lda<T>}},
      [&](const good<T>& g) {
        return lapack<T>("gebal", g.trans, g.n, g.a, g.lda, g.ipiv, g.ipiv, scale(g));
      },
      [&](const good<T>& g) {
        return lapacke<T>("gebal", g.layout, g.trans, g.n, g.a, g.lda, g.ipiv, g.ipiv, scale(g));
      });
  this->check_lapack(
      "gebak",
      {{1, bad_trans<T>},
       {2, bad_where<T>},
       {3, bad_n<T>},
       {4, bad_k<T>},
       {5, bad_nrhs<T>},
       {7, bad_m<T>},
       {9, bad_ldb<T>}},
      [&](const good<T>& g) {
        return lapack<T>("gebak", g.trans, g.where, g.n, g.k, g.nrhs, scale(g), g.m, g.b, g.ldb);
      },
      [&](const good<T>& g) {
        return lapacke<T>("gebak", g.layout, g.trans, g.where, g.n, g.k, g.nrhs, scale(g), g.m, g.b,
                          g.ldb);
      });
}

TYPED_TEST(bad_decomposition_arguments, of_the_hessenberg_form) {
  using T = TypeParam;
  const std::string ghr = of_q<T>("ghr"), mhr = of_q<T>("mhr");
  // The first active row is k, the last one nrhs.
  for (const std::string& name : {std::string("gehrd"), ghr}) {
    std::vector<spoilt<T>> bad{{1, bad_n<T>}, {2, bad_k<T>}, {3, bad_nrhs<T>}, {5, bad_lda<T>}};
    if (name == "gehrd") bad.push_back({8, bad_lwork<T>});
    this->check_lapack(
        name, bad,
        [&](const good<T>& g) {
          return lapack<T>(name, g.n, g.k, g.nrhs, g.a, g.lda, g.tau, g.work, g.lwork);
        },
        [&](const good<T>& g) {
          return lapacke<T>(name + "_work", g.layout, g.n, g.k, g.nrhs, g.a, g.lda, g.tau, g.work,
                            g.lwork);
        },
        "_work");
  }
  this->check_lapack(
      mhr,
      {{1, bad_where<T>},
       {2, bad_trans<T>},
       {3, bad_m<T>},
       {4, bad_n<T>},
       {5, bad_k<T>},
       {6, bad_nrhs<T>},
       {8, bad_lda<T>},
       {11, bad_ldc<T>},
       {13, bad_lwork<T>}},
      [&](const good<T>& g) {
        return lapack<T>(mhr, g.where, g.trans, g.m, g.n, g.k, g.nrhs, g.a, g.lda, g.tau, g.c,
                         g.ldc, g.work, g.lwork);
      },
      [&](const good<T>& g) {
        return lapacke<T>(mhr + "_work", g.layout, g.where, g.trans, g.m, g.n, g.k, g.nrhs, g.a,
                          g.lda, g.tau, g.c, g.ldc, g.work, g.lwork);
      },
      "_work");
}

TYPED_TEST(bad_decomposition_arguments, of_general_eigenvalues) {
  using T = TypeParam;
  constexpr int shift = is_complex<T> ? 0 : 1;
  // Whether there are vectors is `trans` on the left and `trans_b` on the right, as valid letters.
  const auto geev = [](const good<T>& g, auto call) {
    if constexpr (is_complex<T>) {
      return call(g.trans, g.trans_b, g.n, g.a, g.lda, g.tau, g.b, g.ldb, g.c, g.ldc, g.work,
                  g.lwork, reinterpret_cast<real<T>*>(g.tau));
    } else {
      return call(g.trans, g.trans_b, g.n, g.a, g.lda, g.tau, g.tau, g.b, g.ldb, g.c, g.ldc, g.work,
                  g.lwork);
    }
  };
  this->check_lapack(
      "geev",
      {{1, bad_trans<T>},
       {2, bad_trans_b<T>},
       {3, bad_n<T>},
       {5, bad_lda<T>},
       {10 + shift, bad_ldc<T>},
       {12 + shift, bad_lwork<T>}},
      [&](const good<T>& g) {
        return geev(g, [](auto... with) { return lapack<T>("geev", with...); });
      },
      [&](const good<T>& g) {
        return geev(g, [&](auto... with) { return lapacke<T>("geev_work", g.layout, with...); });
      },
      "_work");
  // Whether the Schur form is wanted is `uplo`, and 'N' for Z is `trans`.
  const auto hseqr = [](const good<T>& g, auto call) {
    const char job = g.uplo == 'L' ? 'E' : g.uplo;
    if constexpr (is_complex<T>) {
      return call(job, g.trans, g.n, g.k, g.nrhs, g.a, g.lda, g.tau, g.c, g.ldc, g.work, g.lwork);
    } else {
      return call(job, g.trans, g.n, g.k, g.nrhs, g.a, g.lda, g.tau, g.tau, g.c, g.ldc, g.work,
                  g.lwork);
    }
  };
  this->check_lapack(
      "hseqr",
      {{1, bad_uplo<T>},
       {2, bad_trans<T>},
       {3, bad_n<T>},
       {4, bad_k<T>},
       {5, bad_nrhs<T>},
       {7, bad_lda<T>},
       {10 + shift, bad_ldc<T>},
       {12 + shift, bad_lwork<T>}},
      [&](const good<T>& g) {
        return hseqr(g, [](auto... with) { return lapack<T>("hseqr", with...); });
      },
      [&](const good<T>& g) {
        return hseqr(g, [&](auto... with) { return lapacke<T>("hseqr_work", g.layout, with...); });
      },
      "_work");
}

TYPED_TEST(bad_decomposition_arguments, of_singular_values) {
  using T = TypeParam;
  std::vector<real<T>> s(40), e(4), rwork(400);
  std::vector<blas_int> iwork(40);
  real<T>* const values = s.data();
  const auto with_rwork = [&](auto call) {
    if constexpr (is_complex<T>) {
      return call(rwork.data());
    } else {
      return call();
    }
  };
  this->check_lapack(
      "gebrd", {{1, bad_m<T>}, {2, bad_n<T>}, {4, bad_lda<T>}, {10, bad_lwork<T>}},
      [&](const good<T>& g) {
        return lapack<T>("gebrd", g.m, g.n, g.a, g.lda, values, e.data(), g.tau, g.tau, g.work,
                         g.lwork);
      },
      [&](const good<T>& g) {
        return lapacke<T>("gebrd_work", g.layout, g.m, g.n, g.a, g.lda, values, e.data(), g.tau,
                          g.tau, g.work, g.lwork);
      },
      "_work");
  // Letters for which all leading dimensions count.
  const auto job = [](char given) { return given == 'L' ? 'A' : given; };
  this->check_lapack(
      "gesdd",
      {{1, bad_where<T>},
       {2, bad_m<T>},
       {3, bad_n<T>},
       {5, bad_lda<T>},
       {8, bad_ldb<T>},
       {10, bad_ldc<T>},
       {12, bad_lwork<T>}},
      [&](const good<T>& g) {
        const char jobz = g.where == 'N' ? 'X' : job(g.where);
        return with_rwork([&](auto... r) {
          return lapack<T>("gesdd", jobz, g.m, g.n, g.a, g.lda, values, g.b, g.ldb, g.c, g.ldc,
                           g.work, g.lwork, r..., iwork.data());
        });
      },
      [&](const good<T>& g) {
        const char jobz = g.where == 'N' ? 'X' : job(g.where);
        return with_rwork([&](auto... r) {
          return lapacke<T>("gesdd_work", g.layout, jobz, g.m, g.n, g.a, g.lda, values, g.b, g.ldb,
                            g.c, g.ldc, g.work, g.lwork, r..., iwork.data());
        });
      },
      "_work");
  this->check_lapack(
      "gesvd",
      {{1, bad_where<T>},
       {2, bad_trans<T>},
       {3, bad_m<T>},
       {4, bad_n<T>},
       {6, bad_lda<T>},
       {9, bad_ldb<T>},
       {11, bad_ldc<T>},
       {13, bad_lwork<T>}},
      [&](const good<T>& g) {
        const char left = g.where == 'N' ? 'X' : 'A', right = g.trans == 'N' ? 'A' : '?';
        return with_rwork([&](auto... r) {
          return lapack<T>("gesvd", left, right, g.m, g.n, g.a, g.lda, values, g.b, g.ldb, g.c,
                           g.ldc, g.work, g.lwork, r...);
        });
      },
      [&](const good<T>& g) {
        const char left = g.where == 'N' ? 'X' : 'A', right = g.trans == 'N' ? 'A' : '?';
        return with_rwork([&](auto... r) {
          return lapacke<T>("gesvd_work", g.layout, left, right, g.m, g.n, g.a, g.lda, values, g.b,
                            g.ldb, g.c, g.ldc, g.work, g.lwork, r...);
        });
      },
      "_work");
  blas_int rank = 0;
  this->check_lapack(
      "gelsd",
      {{1, bad_m<T>},
       {2, bad_n<T>},
       {3, bad_nrhs<T>},
       {5, bad_lda<T>},
       {7, bad_ldb<T>},
       {12, bad_lwork<T>}},
      [&](const good<T>& g) {
        return with_rwork([&](auto... r) {
          return lapack<T>("gelsd", g.m, g.n, g.nrhs, g.a, g.lda, g.b, g.ldb, values, real<T>{-1},
                           &rank, g.work, g.lwork, r..., iwork.data());
        });
      },
      [&](const good<T>& g) {
        return with_rwork([&](auto... r) {
          return lapacke<T>("gelsd_work", g.layout, g.m, g.n, g.nrhs, g.a, g.lda, g.b, g.ldb,
                            values, real<T>{-1}, &rank, g.work, g.lwork, r..., iwork.data());
        });
      },
      "_work");
}

}  // namespace
}  // namespace creek::lapack::testing

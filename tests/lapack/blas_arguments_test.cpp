// SPDX-License-Identifier: Apache-2.0
// Every bad argument of the BLAS is reported by its position, in Fortran and in C.
#include "lapack/bad_arguments.hpp"

namespace creek::lapack::testing {
namespace {

template <class T>
class bad_blas_arguments : public bad_arguments<T> {};
TYPED_TEST_SUITE(bad_blas_arguments, scalars);

TYPED_TEST(bad_blas_arguments, of_triangular_products) {
  using T = TypeParam;
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

TYPED_TEST(bad_blas_arguments, of_products) {
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

/// Calls the updates whose scalars beside the factors are of type S.
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

TYPED_TEST(bad_blas_arguments, of_updates) {
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

}  // namespace
}  // namespace creek::lapack::testing

// SPDX-License-Identifier: Apache-2.0
// A ScaLAPACK program, with the drop-in before the library: matrices on every grid of its ranks.
// psgemm_ and psgetrf_ also get what only ScaLAPACK serves, all others only what creek does:
// drop_in.py reads in the report which of the two did.
#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "block_cyclic.hpp"
#include "routines.hpp"

#define EXPECT(what)                                                                    \
  do {                                                                                  \
    if (!(what)) {                                                                      \
      std::fprintf(stderr, "line %d: not %s (%s)\n", __LINE__, #what, where().c_str()); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                     \
    }                                                                                   \
  } while (false)

namespace {

/// The case under test, for errors.
char where_text[200];
std::string where() {
  return where_text;
}

/// Returns || A X - B || / (eps (||A|| ||X|| + ||B||) n) in the maximum norm, as HPL does; it is
/// to be below 16.
template <class T>
double residual(const std::vector<T>& a, const std::vector<T>& x, const std::vector<T>& b, int n,
                int nrhs) {
  double worst = 0, size_a = 0, size_x = 0, size_b = 0;
  for (int i = 0; i < n; ++i) {
    double row = 0;
    for (int k = 0; k < n; ++k) row += std::abs(a[static_cast<std::size_t>(i) + k * n]);
    size_a = std::max(size_a, row);
  }
  for (int j = 0; j < nrhs; ++j) {
    for (int i = 0; i < n; ++i) {
      T sum = -b[static_cast<std::size_t>(i) + j * n];
      for (int k = 0; k < n; ++k) {
        const T right = x[static_cast<std::size_t>(k) + j * n];
        sum += a[static_cast<std::size_t>(i) + k * n] * right;
      }
      worst = std::max(worst, static_cast<double>(std::abs(sum)));
      size_b =
          std::max(size_b, static_cast<double>(std::abs(b[static_cast<std::size_t>(i) + j * n])));
      size_x =
          std::max(size_x, static_cast<double>(std::abs(x[static_cast<std::size_t>(i) + j * n])));
    }
  }
  return worst / (epsilon<T> * (size_a * size_x + size_b) * n);
}

/// Returns op(A), n x m for an m x n matrix A, or A itself.
template <class T>
std::vector<T> op_of(char how, const std::vector<T>& a, int m, int n) {
  if (how == 'N') return a;
  std::vector<T> turned(a.size());
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) {
      T x = a[static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * m];
      if constexpr (is_complex<T>) x = how == 'C' ? std::conj(x) : x;
      turned[static_cast<std::size_t>(j) + static_cast<std::size_t>(i) * n] = x;
    }
  }
  return turned;
}

/// ScaLAPACK's own function, such as "getrf_" of this type.
template <class T, class F>
F own(F ours, const char* routine) {
  const std::string name = std::string{'p', routines<T>::letter} + routine;
  const auto found =
      reinterpret_cast<F>(dlsym(dlopen(SCALAPACK, RTLD_NOW | RTLD_NOLOAD), name.c_str()));
  EXPECT(found != nullptr && found != ours);
  return found;
}

template <class T>
void solve(const grid& on, int n, int nrhs, int block, int before) {
  matrix<T> A(on, n, n, block, block, 1, before), B(on, n, nrhs, block, 3, 1, before);
  const auto pivots_size = static_cast<std::size_t>(A.local_rows() + block);
  std::vector<int> pivots(pivots_size, -5);
  A.fill(1);
  B.fill(2);
  const std::vector<T> a = A.whole(), b = B.whole();
  int info = -1;
  routines<T>::gesv(&n, &nrhs, A.data(), A.row(), A.col(), A.desc, pivots.data(), B.data(), B.row(),
                    B.col(), B.desc, &info);
  EXPECT(info == 0);
  EXPECT(residual(a, B.whole(), b, n, nrhs) < 16);
  EXPECT(A.border_is_whole() && B.border_is_whole());
  // In two steps; ScaLAPACK's own routine finds the same pivots.
  matrix<T> C(on, n, n, block, block, 1, before);
  std::vector<int> again(pivots_size, -5), theirs(pivots_size, -5);
  C.fill(1);
  routines<T>::getrf(&n, &n, C.data(), C.row(), C.col(), C.desc, again.data(), &info);
  // Behind the local rows ScaLAPACK's routine keeps something else.
  const auto are_equal = [&](const std::vector<int>& x, const std::vector<int>& y) {
    return std::equal(x.begin(), x.begin() + C.local_rows(), y.begin());
  };
  EXPECT(info == 0 && are_equal(again, pivots) && C.whole() == A.whole());
  for (const char how : {'N', 'T', 'C'}) {
    B.fill(2);
    routines<T>::getrs(&how, &n, &nrhs, C.data(), C.row(), C.col(), C.desc, again.data(), B.data(),
                       B.row(), B.col(), B.desc, &info, 1);
    EXPECT(info == 0);
    EXPECT(residual(op_of(how, a, n, n), B.whole(), b, n, nrhs) < 16);
  }
  C.fill(1);
  own<T>(routines<T>::getrf, "getrf_")(&n, &n, C.data(), C.row(), C.col(), C.desc, theirs.data(),
                                       &info);
  EXPECT(are_equal(theirs, pivots));
}

template <class T>
void solve_positive(const grid& on, char stored, int n, int nrhs, int block, int before) {
  matrix<T> A(on, n, n, block, block, 1, before), B(on, n, nrhs, block, 3, 1, before);
  A.fill_triangle(stored, 3);
  B.fill(2);
  const std::vector<T> half = A.whole(), b = B.whole();
  std::vector<T> a = op_of('C', half, n, n);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = half[i] == T{} ? a[i] : half[i];
  int info = -1;
  routines<T>::posv(&stored, &n, &nrhs, A.data(), A.row(), A.col(), A.desc, B.data(), B.row(),
                    B.col(), B.desc, &info, 1);
  EXPECT(info == 0 && residual(a, B.whole(), b, n, nrhs) < 16);
  EXPECT(A.border_is_whole() && B.border_is_whole());
  A.fill_triangle(stored, 3);
  B.fill(2);
  routines<T>::potrf(&stored, &n, A.data(), A.row(), A.col(), A.desc, &info, 1);
  EXPECT(info == 0);
  routines<T>::potrs(&stored, &n, &nrhs, A.data(), A.row(), A.col(), A.desc, B.data(), B.row(),
                     B.col(), B.desc, &info, 1);
  EXPECT(info == 0 && residual(a, B.whole(), b, n, nrhs) < 16);
  // Not positive definite from row 2 on.
  A.fill_triangle(stored, 3);
  A.each([](T& x, int i, int j) {
    if (i == j && i == 1) x = T(-1);
  });
  routines<T>::potrf(&stored, &n, A.data(), A.row(), A.col(), A.desc, &info, 1);
  EXPECT(info == (n > 1 ? 2 : 0));
}

/// The factors are LAPACK's, so both libraries' are equal but for rounding.
template <class T>
void factor_qr(const grid& on, int m, int n, int block, int before) {
  matrix<T> A(on, m, n, block, block, 1, before), B(on, m, n, block, block, 1, before);
  const int length = block * (m + n + block);
  std::vector<T> work(static_cast<std::size_t>(length)), tau(A.local_cols() + 1u, T(5)),
      theirs(tau);
  A.fill(1);
  B.fill(1);
  int info = -1;
  routines<T>::geqrf(&m, &n, A.data(), A.row(), A.col(), A.desc, tau.data(), work.data(), &length,
                     &info);
  EXPECT(info == 0 && A.border_is_whole());
  own<T>(routines<T>::geqrf, "geqrf_")(&m, &n, B.data(), B.row(), B.col(), B.desc, theirs.data(),
                                       work.data(), &length, &info);
  const std::vector<T> found = A.whole(), expected = B.whole();
  const double bound = 200.0 * (m + n) * epsilon<T>;
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT(std::abs(found[i] - expected[i]) < bound);
  const int vectors = std::min(m, n), right_hand_sides = 7;
  for (const char how : {'N', is_complex<T> ? 'C' : 'T'}) {
    matrix<T> C(on, m, right_hand_sides, block, 3, 1, before),
        D(on, m, right_hand_sides, block, 3, 1, before);
    C.fill(2);
    D.fill(2);
    std::vector<T> space(static_cast<std::size_t>(block * (m + 7 + 2 * block)));
    const int size = static_cast<int>(space.size());
    routines<T>::ormqr("L", &how, &m, &right_hand_sides, &vectors, A.data(), A.row(), A.col(),
                       A.desc, tau.data(), C.data(), C.row(), C.col(), C.desc, space.data(), &size,
                       &info, 1, 1);
    EXPECT(info == 0 && C.border_is_whole());
    own<T>(routines<T>::ormqr, is_complex<T> ? "unmqr_" : "ormqr_")(
        "L", &how, &m, &right_hand_sides, &vectors, A.data(), A.row(), A.col(), A.desc, tau.data(),
        D.data(), D.row(), D.col(), D.desc, space.data(), &size, &info, 1, 1);
    const std::vector<T> c = C.whole(), d = D.whole();
    for (std::size_t i = 0; i < c.size(); ++i) EXPECT(std::abs(c[i] - d[i]) < bound);
  }
  A.each([&](T&, int, int j) {
    if (j < vectors) EXPECT(std::abs(tau[A.local_col(j)] - theirs[A.local_col(j)]) < bound);
  });
}

template <class T>
void multiply(const grid& on, char op_a, char op_b, int m, int n, int k, int block, int before) {
  const bool plain_a = op_a == 'N', plain_b = op_b == 'N';
  const int rows_a = plain_a ? m : k, cols_a = plain_a ? k : m;
  const int rows_b = plain_b ? k : n, cols_b = plain_b ? n : k;
  // The first blocks of A's rows and C's, and of B's columns and C's, are at the same processes.
  matrix<T> A(on, rows_a, cols_a, plain_a ? block : 4, plain_a ? 4 : block, 0, before),
      B(on, rows_b, cols_b, plain_b ? 4 : 3, plain_b ? 3 : 4, before, 0),
      C(on, m, n, block, 3, before, 0);
  A.fill(4);
  B.fill(5);
  C.fill(6);
  const std::vector<T> a = op_of(op_a, A.whole(), rows_a, cols_a);
  const std::vector<T> b = op_of(op_b, B.whole(), rows_b, cols_b), c = C.whole();
  const T alpha(2), beta(-1);
  routines<T>::gemm(&op_a, &op_b, &m, &n, &k, &alpha, A.data(), A.row(), A.col(), A.desc, B.data(),
                    B.row(), B.col(), B.desc, &beta, C.data(), C.row(), C.col(), C.desc);
  const std::vector<T> found = C.whole();
  double worst = 0;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) {
      const std::size_t at = static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * m;
      T sum = beta * c[at];
      for (int l = 0; l < k; ++l) {
        sum += alpha * a[static_cast<std::size_t>(i) + static_cast<std::size_t>(l) * m] *
               b[static_cast<std::size_t>(l) + static_cast<std::size_t>(j) * k];
      }
      worst = std::max(worst, static_cast<double>(std::abs(sum - found[at])));
    }
  }
  EXPECT(worst < 8.0 * (k + 1) * epsilon<T>);
}

/// Calls that go to ScaLAPACK: a matrix that begins inside a block, and wrong arguments, which it
/// reports.
void left_to_scalapack(const grid& on) {
  const int n = 13, inside = 2, below = -1;
  matrix<float> A(on, n + 1, n + 1, 4, 4, 0, 0), B(on, n + 1, n + 1, 4, 4, 0, 0),
      C(on, n + 1, n + 1, 4, 4, 0, 0);
  A.fill(7);
  B.fill(8);
  C.fill(9);
  const std::vector<float> a = A.whole(), b = B.whole();
  const float alpha = 1, beta = 0;
  psgemm_("N", "N", &n, &n, &n, &alpha, A.data(), &inside, &inside, A.desc, B.data(), &inside,
          &inside, B.desc, &beta, C.data(), &inside, &inside, C.desc);
  const std::vector<float> c = C.whole();
  for (int j = 1; j <= n; ++j) {
    for (int i = 1; i <= n; ++i) {
      float sum = 0;
      for (int l = 1; l <= n; ++l) {
        sum += a[static_cast<std::size_t>(i + l * (n + 1))] *
               b[static_cast<std::size_t>(l + j * (n + 1))];
      }
      EXPECT(std::abs(sum - c[static_cast<std::size_t>(i + j * (n + 1))]) < 1e-5F);
    }
  }
  std::vector<int> pivots(static_cast<std::size_t>(A.local_rows() + 4));
  int info = 0;
  psgetrf_(&below, &n, A.data(), A.row(), A.col(), A.desc, pivots.data(), &info);
  EXPECT(info == -1);
}

/// Contexts that come and go take their communicators with them: MPICH has 2048.
void many_contexts(int rows, int cols) {
  const int contexts = rows * cols == 1 ? 2100 : 20;
  for (int i = 0; i < contexts; ++i) {
    const grid on(rows, cols);
    solve<double>(on, 3, 1, 2, 0);
  }
}

/// `few`: for ranks that share processors, on which MPI and the BLACS wait without sleep.
template <class T>
void all_of(const grid& on, bool few) {
  for (const int block : few ? std::vector{5} : std::vector{1, 5, 16}) {
    for (const int n : few ? std::vector{7, 41} : std::vector{1, 7, 41}) {
      for (const int before : few ? std::vector{1} : std::vector{0, 1, 3}) {
        std::snprintf(where_text, sizeof where_text, "%d x %d ranks, n %d, block %d, %d before",
                      on.rows, on.cols, n, block, before);
        solve<T>(on, n, 5, block, before);
        for (const char stored : {'L', 'U'}) solve_positive<T>(on, stored, n, 5, block, before);
        factor_qr<T>(on, n + 6, n, block, before);
        factor_qr<T>(on, n, n + 6, block, before);
        for (const char op_a : {'N', 'T', 'C'}) {
          for (const char op_b : {'N', 'T', 'C'}) {
            multiply<T>(on, op_a, op_b, n, n + 3, 2 * n, block, before);
          }
        }
      }
    }
  }
}

/// Calls that are large enough for the workers of two ranks.
void large(const grid& on) {
  const int n = 700, block = 32;
  std::snprintf(where_text, sizeof where_text, "%d x %d ranks, large", on.rows, on.cols);
  solve<double>(on, n, 5, block, 0);
  solve_positive<double>(on, 'L', n, 5, block, 0);
  multiply<double>(on, 'T', 'N', 400, 400, 400, block, 0);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int rows = 1; rows <= size; ++rows) {
    if (size % rows != 0) continue;
    const grid on(rows, size / rows);
    const bool few = size > 2;
    all_of<double>(on, few);
    all_of<std::complex<double>>(on, few);
    all_of<float>(on, true);
    all_of<std::complex<float>>(on, true);
    left_to_scalapack(on);
    many_contexts(rows, size / rows);
    if (!few) large(on);
  }
  if (rank == 0) std::printf("passed\n");
  MPI_Finalize();
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// LU, Cholesky, QR and products on a grid of ranks: creek's routines and ScaLAPACK's, in turns on
// the same matrices in one run. To be started by the launcher of the MPI; for one thread a rank
// with OPENBLAS_NUM_THREADS=1.
#include <dlfcn.h>
#include <creek/mpi/adopt.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <creek/linalg/grids.hpp>

#include "../../support/median.hpp"

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void descinit_(int* desc, const int* m, const int* n, const int* mb, const int* nb,
               const int* row_source, const int* col_source, const int* context, const int* leading,
               int* info);
void pdgetrf_(const int* m, const int* n, double* a, const int* ia, const int* ja, const int* desc,
              int* pivots, int* info);
void pdpotrf_(const char* stored, const int* n, double* a, const int* ia, const int* ja,
              const int* desc, int* info);
void pdgetrs_(const char* op, const int* n, const int* right_hand_sides, const double* a,
              const int* ia, const int* ja, const int* desc_a, const int* pivots, double* b,
              const int* ib, const int* jb, const int* desc_b, int* info);
void pdgeqrf_(const int* m, const int* n, double* a, const int* ia, const int* ja, const int* desc,
              double* tau, double* work, const int* work_size, int* info);
void pdgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k,
             const double* alpha, const double* a, const int* ia, const int* ja, const int* desc_a,
             const double* b, const int* ib, const int* jb, const int* desc_b, const double* beta,
             double* c, const int* ic, const int* jc, const int* desc_c);
}

namespace {

using namespace creek::linalg;
using values = std::vector<double>;

constexpr int one = 1;

/// A reproducible element between -0.5 and 0.5.
double element(index_t i, index_t j) {
  std::uint64_t x = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15U +
                    static_cast<std::uint64_t>(j) * 0xc2b2ae3d27d4eb4fU + 1;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return std::ldexp(static_cast<double>((x ^ (x >> 31U)) >> 11U), -53) - 0.5;
}
double general(index_t i, index_t j) {
  return element(i, j);
}
double other(index_t i, index_t j) {
  return element(i, j + 1'000'000);
}
double symmetric(index_t i, index_t j) {
  return i == j ? 1'000 : element(std::max(i, j), std::min(i, j));
}
double dominant(index_t i, index_t j) {
  return i == j ? 1'000 : element(i, j);
}

/// An n x n matrix on the grid, and its descriptor.
class grid_matrix {
 public:
  grid_matrix(const process_grid& grid, int context, int n, int block)
      : axis_{n, block, 0, grid.rows, grid.row},
        leading_(std::max<index_t>(1, axis_.local_size())),
        memory_(static_cast<std::size_t>(
            leading_ *
            std::max<index_t>(1, cyclic_axis{n, block, 0, grid.cols, grid.col}.local_size()))),
        view_(grid, n, n, block, block, memory_.data(), leading_) {
    const int source = 0, leading = static_cast<int>(leading_);
    int info = 0;
    descinit_(desc, &n, &n, &block, &block, &source, &source, &context, &leading, &info);
    if (info != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  grid_matrix(const grid_matrix&) = delete;
  grid_matrix& operator=(const grid_matrix&) = delete;

  const grid_view<double>& view() const { return view_; }
  double* data() { return memory_.data(); }
  template <class F>
  void each(F f) const {
    const matrix_view<double> mine = view_.local();
    for (index_t j = 0; j < mine.cols(); ++j) {
      for (index_t i = 0; i < mine.rows(); ++i) {
        f(mine(i, j), view_.rows().global(i), view_.cols().global(j));
      }
    }
  }
  void fill(double (*f)(index_t, index_t)) {
    each([&](double& x, index_t i, index_t j) { x = f(i, j); });
  }
  /// Returns the product with a vector, at every rank, of the elements that f makes of this
  /// matrix's.
  template <class F>
  values times(const values& v, F f) const {
    values sums(v.size());
    each([&](double x, index_t i, index_t j) {
      sums[static_cast<std::size_t>(i)] += f(x, i, j) * v[static_cast<std::size_t>(j)];
    });
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    return sums;
  }
  template <class F>
  values transposed_times(const values& v, F f) const {
    values sums(v.size());
    each([&](double x, index_t i, index_t j) {
      sums[static_cast<std::size_t>(j)] += f(x, i, j) * v[static_cast<std::size_t>(i)];
    });
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    return sums;
  }

  int desc[9] = {};

 private:
  cyclic_axis axis_;
  index_t leading_;
  values memory_;
  grid_view<double> view_;
};

values probe(std::size_t n) {
  values v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = element(static_cast<index_t>(i), 77) < 0 ? -1 : 1;
  return v;
}
/// Returns the largest difference, in roundings of n terms of the largest value.
double residual(const values& found, const values& expected) {
  double difference = 0, scale = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double d = std::abs(found[i] - expected[i]);
    if (!(d <= difference)) difference = d;
    scale = std::max(scale, std::abs(expected[i]));
  }
  return difference / scale / std::numeric_limits<double>::epsilon() /
         static_cast<double>(found.size());
}

/// One routine: what both sides do, and how the result that is in place is checked.
struct contest {
  const char* name;
  double operations;
  std::function<void()> prepare, ours, theirs;
  std::function<double(bool)> check;
};

double timed(const std::function<void()>& f) {
  MPI_Barrier(MPI_COMM_WORLD);
  const auto begin = std::chrono::steady_clock::now();
  f();
  MPI_Barrier(MPI_COMM_WORLD);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Returns whether all residuals pass.
bool compare(const contest& c, int rank, int rounds) {
  values ours, theirs, ratios;
  double worst[2] = {};
  for (int i = 0; i < rounds; ++i) {
    for (int turn = 0; turn < 2; ++turn) {
      const bool mine = turn == i % 2;
      c.prepare();
      (mine ? ours : theirs).push_back(timed(mine ? c.ours : c.theirs));
      const double found = c.check(mine);
      if (!(found <= worst[mine ? 0 : 1])) worst[mine ? 0 : 1] = found;
    }
    ratios.push_back(theirs.back() / ours.back());
  }
  if (rank == 0) {
    const double of_fastest = *std::min_element(theirs.begin(), theirs.end()) /
                              *std::min_element(ours.begin(), ours.end());
    std::printf("%-12s %10.1f %10.1f %10.2f %10.2f %10.1e %10.1e\n", c.name,
                c.operations / bench::median(ours) / 1e9,
                c.operations / bench::median(theirs) / 1e9, bench::median(ratios), of_fastest,
                worst[0], worst[1]);
    std::fflush(stdout);
  }
  return worst[0] < 1 && worst[1] < 1;
}

class contests {
 public:
  contests(creek::mpi_communicator& ranks, const process_grid& grid, int context, int n, int block)
      : ranks_(ranks),
        n_(n),
        block_(block),
        a_(grid, context, n, block),
        b_(grid, context, n, block),
        c_(grid, context, n, block),
        pivots_(static_cast<std::size_t>(n)),
        their_pivots_(static_cast<std::size_t>(n + block)),
        tau_(static_cast<std::size_t>(n)),
        their_tau_(static_cast<std::size_t>(n)),
        v_(probe(static_cast<std::size_t>(n))) {}

  std::vector<contest> all() {
    return {lu(),
            cholesky(triangle::lower),
            cholesky(triangle::upper),
            qr(),
            product(op::none),
            product(op::transpose),
            solve(op::none),
            solve(op::transpose)};
  }

 private:
  contest lu() {
    return {"LU",
            2.0 / 3 * cube(),
            [this] { a_.fill(general); },
            [this] { require(getrf_on_grid(ranks_, a_.view(), std::span(pivots_)) == 0); },
            [this] {
              int info = 0;
              pdgetrf_(&n_, &n_, a_.data(), &one, &one, a_.desc, their_pivots_.data(), &info);
              require(info == 0);
            },
            [this](bool mine) { return check_lu(mine); }};
  }
  contest cholesky(triangle stored) {
    return {stored == triangle::lower ? "Cholesky" : "Cholesky U",
            1.0 / 3 * cube(),
            [this] { a_.fill(symmetric); },
            [this, stored] { require(potrf_on_grid(ranks_, stored, a_.view()) == 0); },
            [this, stored] {
              const char letter = static_cast<char>(stored);
              int info = 0;
              pdpotrf_(&letter, &n_, a_.data(), &one, &one, a_.desc, &info);
              require(info == 0);
            },
            [this, stored](bool) {
              const values product =
                  stored == triangle::lower
                      ? a_.times(a_.transposed_times(v_, lower_part), lower_part)
                      : a_.transposed_times(a_.times(v_, upper_part), upper_part);
              return residual(product, a_.times(v_, original<symmetric>));
            }};
  }
  contest qr() {
    double work = 0;
    const int ask = -1;
    int asked = 0;
    pdgeqrf_(&n_, &n_, a_.data(), &one, &one, a_.desc, their_tau_.data(), &work, &ask, &asked);
    require(asked == 0);
    work_.resize(static_cast<std::size_t>(work));
    return {"QR",
            4.0 / 3 * cube(),
            [this] { a_.fill(general); },
            [this] { geqrf_on_grid(ranks_, a_.view(), std::span(tau_)); },
            [this] {
              const int size = static_cast<int>(work_.size());
              int info = 0;
              pdgeqrf_(&n_, &n_, a_.data(), &one, &one, a_.desc, their_tau_.data(), work_.data(),
                       &size, &info);
              require(info == 0);
            },
            [this](bool mine) { return check_qr(mine); }};
  }
  /// With as many right-hand sides as rows.
  contest solve(op how) {
    return {how == op::none ? "solve" : "solve A^T",
            2 * cube(),
            [this] {
              a_.fill(dominant);
              require(getrf_on_grid(ranks_, a_.view(), std::span(pivots_)) == 0);
              const cyclic_axis& axis = a_.view().rows();
              for (index_t i = 0; i < axis.local_size(); ++i) {
                their_pivots_[static_cast<std::size_t>(i)] =
                    static_cast<int>(pivots_[static_cast<std::size_t>(axis.global(i))] + 1);
              }
              b_.fill(other);
            },
            [this, how] {
              getrs_on_grid(ranks_, how, a_.view(), std::span<const index_t>(pivots_), b_.view());
            },
            [this, how] {
              const char letter = static_cast<char>(how);
              int info = 0;
              pdgetrs_(&letter, &n_, &n_, a_.data(), &one, &one, a_.desc, their_pivots_.data(),
                       b_.data(), &one, &one, b_.desc, &info);
              require(info == 0);
            },
            [this, how](bool) {
              a_.fill(dominant);
              const values x = b_.times(v_, itself);
              return residual(
                  how == op::none ? a_.times(x, itself) : a_.transposed_times(x, itself),
                  b_.times(v_, original<other>));
            }};
  }
  contest product(op how) {
    return {how == op::none ? "product" : "product A^T",
            2 * cube(),
            [this] {
              a_.fill(general);
              b_.fill(other);
              c_.fill(general);
            },
            [this, how] {
              gemm_on_grid<creek::mpi_communicator, double>(ranks_, how, op::none, -1, a_.view(),
                                                            b_.view(), 1, c_.view());
            },
            [this, how] {
              const char letter = static_cast<char>(how);
              const double minus = -1, plus = 1;
              pdgemm_(&letter, "N", &n_, &n_, &n_, &minus, a_.data(), &one, &one, a_.desc,
                      b_.data(), &one, &one, b_.desc, &plus, c_.data(), &one, &one, c_.desc);
            },
            [this, how](bool) {
              const values x = b_.times(v_, itself);
              const values ab =
                  how == op::none ? a_.times(x, itself) : a_.transposed_times(x, itself);
              values expected = a_.times(v_, itself);
              for (std::size_t i = 0; i < ab.size(); ++i) expected[i] -= ab[i];
              return residual(c_.times(v_, itself), expected);
            }};
  }

  static double itself(double x, index_t, index_t) { return x; }
  static double lower_part(double x, index_t i, index_t j) { return i >= j ? x : 0; }
  static double upper_part(double x, index_t i, index_t j) { return i <= j ? x : 0; }
  static double unit_lower_part(double x, index_t i, index_t j) {
    return i == j ? 1 : lower_part(x, i, j);
  }
  template <double (*F)(index_t, index_t)>
  static double original(double, index_t i, index_t j) {
    return F(i, j);
  }
  static void require(bool good) {
    if (!good) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  double cube() const { return static_cast<double>(n_) * n_ * n_; }

  double check_lu(bool mine) {
    values rows(v_.size());
    if (mine) {
      rows.assign(pivots_.begin(), pivots_.end());
    } else {
      // ScaLAPACK's are at the processes whose rows they are, counted from 1.
      const cyclic_axis& axis = a_.view().rows();
      if (a_.view().grid().col == 0) {
        for (index_t i = 0; i < axis.local_size(); ++i) {
          rows[static_cast<std::size_t>(axis.global(i))] =
              their_pivots_[static_cast<std::size_t>(i)] - 1;
        }
      }
      MPI_Allreduce(MPI_IN_PLACE, rows.data(), n_, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    values expected = a_.times(v_, original<general>);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::swap(expected[i], expected[static_cast<std::size_t>(rows[i])]);
    }
    return residual(a_.times(a_.times(v_, upper_part), unit_lower_part), expected);
  }

  /// Applies Q to R v.
  double check_qr(bool mine) {
    values tau = tau_;
    if (!mine) {
      // ScaLAPACK's are at the processes whose columns they are.
      std::fill(tau.begin(), tau.end(), 0);
      const cyclic_axis& axis = a_.view().cols();
      for (index_t j = 0; a_.view().grid().row == 0 && j < axis.local_size(); ++j) {
        tau[static_cast<std::size_t>(axis.global(j))] = their_tau_[static_cast<std::size_t>(j)];
      }
      MPI_Allreduce(MPI_IN_PLACE, tau.data(), n_, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    const values product = a_.times(v_, upper_part);
    values here(v_.size());
    const grid_view<double> column(a_.view().grid(), n_, 1, block_, 1, here.data(), n_);
    const cyclic_axis& axis = column.rows();
    const auto each = [&](auto f) {
      for (index_t i = 0; i < axis.local_size(); ++i) {
        f(here[static_cast<std::size_t>(i)], static_cast<std::size_t>(axis.global(i)));
      }
    };
    each([&](double& x, std::size_t i) { x = product[i]; });
    ormqr_on_grid(ranks_, op::none, a_.view(), std::span<const double>(tau), column);
    values found(v_.size());
    if (column.grid().col == 0) each([&](double& x, std::size_t i) { found[i] = x; });
    MPI_Allreduce(MPI_IN_PLACE, found.data(), n_, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return residual(found, a_.times(v_, original<general>));
  }

  creek::mpi_communicator& ranks_;
  int n_, block_;
  grid_matrix a_, b_, c_;
  std::vector<index_t> pivots_;
  std::vector<int> their_pivots_;
  values tau_, their_tau_, work_;
  values v_;
};

/// The library in which ScaLAPACK finds its BLAS.
std::string blas() {
  Dl_info found{};
  void* const dgemm = dlsym(RTLD_DEFAULT, "dgemm_");
  if (dgemm == nullptr || dladdr(dgemm, &found) == 0) return "an unknown BLAS";
  char path[4096];
  return realpath(found.dli_fname, path) == nullptr ? found.dli_fname : path;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const auto argument = [&](int i, int usual) { return argc > i ? std::atoi(argv[i]) : usual; };
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int n = argument(1, 4000), block = argument(2, 64), rows = argument(3, 1);
  const int rounds = argument(4, 5);
  bool good = true;
  if (n < 1 || block < 1 || rows < 1 || size % rows != 0 || rounds < 1) {
    std::fprintf(stderr,
                 "usage: mpirun -n P %s [N [BLOCK [GRID_ROWS [ROUNDS]]]], GRID_ROWS a divisor of "
                 "P\n",
                 argv[0]);
    good = false;
  } else {
    creek::mpi_communicator ranks = creek::adopt(MPI_COMM_WORLD);
    const process_grid grid = process_grid::of(rows, size / rows, ranks.rank());
    int context = 0;
    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, "Row", grid.rows, grid.cols);
    if (ranks.rank() == 0) {
      std::printf("n = %d, blocks of %d, grid of %d x %d; ScaLAPACK over %s\n", n, block, grid.rows,
                  grid.cols, blas().c_str());
      std::printf(
          "GFLOP/s and ratio: medians of %d rounds; fastest: ratio of the shortest times;\n"
          "then the largest residuals\n",
          rounds);
      std::printf("%-12s %10s %10s %10s %10s %10s %10s\n", "", "creek", "ScaLAPACK", "ratio",
                  "fastest", "creek", "ScaLAPACK");
    }
    contests all(ranks, grid, context, n, block);
    for (const contest& each : all.all()) {
      good = compare(each, ranks.rank(), rounds) && good;
    }
    if (!good && ranks.rank() == 0) std::fprintf(stderr, "a residual is too large\n");
  }
  MPI_Finalize();
  return good ? 0 : 1;
}

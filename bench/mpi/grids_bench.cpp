// SPDX-License-Identifier: Apache-2.0
// LU, Cholesky, QR, solves and products on a grid of ranks, as a ScaLAPACK program calls them: the
// drop-in's functions and ScaLAPACK's, in turns on the same matrices in one run. To be started by
// the launcher of the MPI; for one thread per rank with OPENBLAS_NUM_THREADS=1 CREEK_WORKERS=1.
#include <dlfcn.h>
#include <mpi.h>

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

#include <creek/linalg/grid_matrix.hpp>

#include "../../support/median.hpp"

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void descinit_(int* desc, const int* m, const int* n, const int* mb, const int* nb,
               const int* row_source, const int* col_source, const int* context, const int* leading,
               int* info);
void pdormqr_(const char* side, const char* op, const int* m, const int* n, const int* k,
              const double* a, const int* ia, const int* ja, const int* desc_a, const double* tau,
              double* c, const int* ic, const int* jc, const int* desc_c, double* work,
              const int* work_size, int* info);
}

namespace {

using namespace creek::linalg;
using values = std::vector<double>;

constexpr int one = 1;

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "%s failed\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// The routines as one shared library has them.
class library {
 public:
  explicit library(const char* file) : handle_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
    require(handle_ != nullptr, file);
    find(getrf, "pdgetrf_");
    find(potrf, "pdpotrf_");
    find(geqrf, "pdgeqrf_");
    find(getrs, "pdgetrs_");
    find(gemm, "pdgemm_");
  }

  using descriptor = const int*;
  void (*getrf)(const int* m, const int* n, double* a, const int* ia, const int* ja, descriptor,
                int* pivots, int* info);
  void (*potrf)(const char* stored, const int* n, double* a, const int* ia, const int* ja,
                descriptor, int* info, std::size_t);
  void (*geqrf)(const int* m, const int* n, double* a, const int* ia, const int* ja, descriptor,
                double* tau, double* work, const int* work_size, int* info);
  void (*getrs)(const char* op, const int* n, const int* right_hand_sides, const double* a,
                const int* ia, const int* ja, descriptor, const int* pivots, double* b,
                const int* ib, const int* jb, descriptor, int* info, std::size_t);
  void (*gemm)(const char* op_a, const char* op_b, const int* m, const int* n, const int* k,
               const double* alpha, const double* a, const int* ia, const int* ja, descriptor,
               const double* b, const int* ib, const int* jb, descriptor, const double* beta,
               double* c, const int* ic, const int* jc, descriptor);

 private:
  template <class F>
  void find(F& function, const char* name) {
    function = reinterpret_cast<F>(dlsym(handle_, name));
    require(function != nullptr, name);
  }
  void* handle_;
};

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
    return summed([&](values& sums, double x, index_t i, index_t j) {
      sums[static_cast<std::size_t>(i)] += f(x, i, j) * v[static_cast<std::size_t>(j)];
    });
  }
  template <class F>
  values transposed_times(const values& v, F f) const {
    return summed([&](values& sums, double x, index_t i, index_t j) {
      sums[static_cast<std::size_t>(j)] += f(x, i, j) * v[static_cast<std::size_t>(i)];
    });
  }

  int desc[9] = {};

 private:
  template <class Add>
  values summed(Add add) const {
    values sums(static_cast<std::size_t>(axis_.size));
    each([&](double x, index_t i, index_t j) { add(sums, x, i, j); });
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    return sums;
  }

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

/// One routine: what both libraries do, and how the result that is in place is checked.
struct contest {
  const char* name;
  double operations;
  std::function<void()> prepare;
  std::function<void(const library&)> run;
  std::function<double()> check;
};

template <class F>
double timed(F f) {
  MPI_Barrier(MPI_COMM_WORLD);
  const auto begin = std::chrono::steady_clock::now();
  f();
  MPI_Barrier(MPI_COMM_WORLD);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Returns whether all residuals pass.
bool compare(const contest& c, const library& creeks, const library& scalapack, int rank,
             int rounds) {
  values ours, theirs, ratios;
  double worst[2] = {};
  for (int i = 0; i < rounds; ++i) {
    for (int turn = 0; turn < 2; ++turn) {
      const bool mine = turn == i % 2;
      c.prepare();
      (mine ? ours : theirs).push_back(timed([&] { c.run(mine ? creeks : scalapack); }));
      const double found = c.check();
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
  contests(const library& scalapack, const process_grid& grid, int context, int n, int block)
      : scalapack_(scalapack),
        context_(context),
        n_(n),
        block_(block),
        a_(grid, context, n, block),
        b_(grid, context, n, block),
        c_(grid, context, n, block),
        pivots_(static_cast<std::size_t>(n + block)),
        tau_(static_cast<std::size_t>(n)),
        // Enough for QR and for the products with Q.
        work_(static_cast<std::size_t>(4 * block * (n + block))),
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
    return {"LU", 2.0 / 3 * cube(), [this] { a_.fill(general); },
            [this](const library& with) { factor(with); }, [this] { return check_lu(); }};
  }
  contest cholesky(triangle stored) {
    return {stored == triangle::lower ? "Cholesky" : "Cholesky U", 1.0 / 3 * cube(),
            [this] { a_.fill(symmetric); },
            [this, stored](const library& with) {
              const char letter = static_cast<char>(stored);
              int info = 0;
              with.potrf(&letter, &n_, a_.data(), &one, &one, a_.desc, &info, 1);
              require(info == 0, "potrf");
            },
            [this, stored] {
              const values product =
                  stored == triangle::lower
                      ? a_.times(a_.transposed_times(v_, lower_part), lower_part)
                      : a_.transposed_times(a_.times(v_, upper_part), upper_part);
              return residual(product, a_.times(v_, original<symmetric>));
            }};
  }
  contest qr() {
    return {"QR", 4.0 / 3 * cube(), [this] { a_.fill(general); },
            [this](const library& with) {
              const int size = static_cast<int>(work_.size());
              int info = 0;
              with.geqrf(&n_, &n_, a_.data(), &one, &one, a_.desc, tau_.data(), work_.data(), &size,
                         &info);
              require(info == 0, "geqrf");
            },
            [this] { return check_qr(); }};
  }
  /// With as many right-hand sides as rows.
  contest solve(op how) {
    return {how == op::none ? "solve" : "solve A^T", 2 * cube(),
            [this] {
              a_.fill(dominant);
              factor(scalapack_);
              b_.fill(other);
            },
            [this, how](const library& with) {
              const char letter = static_cast<char>(how);
              int info = 0;
              with.getrs(&letter, &n_, &n_, a_.data(), &one, &one, a_.desc, pivots_.data(),
                         b_.data(), &one, &one, b_.desc, &info, 1);
              require(info == 0, "getrs");
            },
            [this, how] {
              a_.fill(dominant);
              const values x = b_.times(v_, itself);
              return residual(
                  how == op::none ? a_.times(x, itself) : a_.transposed_times(x, itself),
                  b_.times(v_, original<other>));
            }};
  }
  contest product(op how) {
    return {how == op::none ? "product" : "product A^T", 2 * cube(),
            [this] {
              a_.fill(general);
              b_.fill(other);
              c_.fill(general);
            },
            [this, how](const library& with) {
              const char letter = static_cast<char>(how);
              const double minus = -1, plus = 1;
              with.gemm(&letter, "N", &n_, &n_, &n_, &minus, a_.data(), &one, &one, a_.desc,
                        b_.data(), &one, &one, b_.desc, &plus, c_.data(), &one, &one, c_.desc);
            },
            [this, how] {
              const values x = b_.times(v_, itself);
              const values ab =
                  how == op::none ? a_.times(x, itself) : a_.transposed_times(x, itself);
              values expected = a_.times(v_, itself);
              for (std::size_t i = 0; i < ab.size(); ++i) expected[i] -= ab[i];
              return residual(c_.times(v_, itself), expected);
            }};
  }
  void factor(const library& with) {
    int info = 0;
    with.getrf(&n_, &n_, a_.data(), &one, &one, a_.desc, pivots_.data(), &info);
    require(info == 0, "getrf");
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
  double cube() const { return static_cast<double>(n_) * n_ * n_; }

  double check_lu() {
    values rows(v_.size());
    // They are at the processes whose rows they are, counted from 1.
    const cyclic_axis& axis = a_.view().rows();
    if (a_.view().grid().col == 0) {
      for (index_t i = 0; i < axis.local_size(); ++i) {
        rows[static_cast<std::size_t>(axis.global(i))] = pivots_[static_cast<std::size_t>(i)] - 1;
      }
    }
    MPI_Allreduce(MPI_IN_PLACE, rows.data(), n_, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    values expected = a_.times(v_, original<general>);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::swap(expected[i], expected[static_cast<std::size_t>(rows[i])]);
    }
    return residual(a_.times(a_.times(v_, upper_part), unit_lower_part), expected);
  }

  /// Applies Q to R v, by ScaLAPACK.
  double check_qr() {
    const values product = a_.times(v_, upper_part);
    values here(v_.size()), found(v_.size());
    const cyclic_axis& axis = a_.view().rows();
    const bool has_column = a_.view().grid().col == 0;
    const int rows = static_cast<int>(std::max<index_t>(1, axis.local_size()));
    const int column[9] = {1, context_, n_, 1, block_, block_, 0, 0, rows};
    for (index_t i = 0; has_column && i < axis.local_size(); ++i) {
      here[static_cast<std::size_t>(i)] = product[static_cast<std::size_t>(axis.global(i))];
    }
    const int size = static_cast<int>(work_.size());
    int info = 0;
    pdormqr_("L", "N", &n_, &one, &n_, a_.data(), &one, &one, a_.desc, tau_.data(), here.data(),
             &one, &one, column, work_.data(), &size, &info);
    require(info == 0, "pdormqr");
    for (index_t i = 0; has_column && i < axis.local_size(); ++i) {
      found[static_cast<std::size_t>(axis.global(i))] = here[static_cast<std::size_t>(i)];
    }
    MPI_Allreduce(MPI_IN_PLACE, found.data(), n_, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return residual(found, a_.times(v_, original<general>));
  }

  const library& scalapack_;
  int context_, n_, block_;
  grid_matrix a_, b_, c_;
  std::vector<int> pivots_;
  values tau_, work_;
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
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const process_grid grid = process_grid::of(rows, size / rows, rank);
    int context = 0;
    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, "Row", grid.rows, grid.cols);
    if (rank == 0) {
      std::printf("n = %d, blocks of %d, grid of %d x %d; ScaLAPACK over %s\n", n, block, grid.rows,
                  grid.cols, blas().c_str());
      std::printf(
          "GFLOP/s and ratio: medians of %d rounds; fastest: ratio of the shortest times;\n"
          "then the largest residuals\n",
          rounds);
      std::printf("%-12s %10s %10s %10s %10s %10s %10s\n", "", "creek", "ScaLAPACK", "ratio",
                  "fastest", "creek", "ScaLAPACK");
    }
    const library creeks(CREEK_DROP_IN), scalapack(SCALAPACK);
    contests all(scalapack, grid, context, n, block);
    for (const contest& each : all.all()) {
      good = compare(each, creeks, scalapack, rank, rounds) && good;
    }
    if (!good && rank == 0) std::fprintf(stderr, "a residual is too large\n");
  }
  MPI_Finalize();
  return good ? 0 : 1;
}

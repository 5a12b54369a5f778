// SPDX-License-Identifier: Apache-2.0
// The routines that both libraries run on the same matrices: LU, Cholesky, QR, products and solves.
#pragma once

#include <functional>
#include <vector>

#include "library.hpp"
#include "matrix.hpp"

namespace bench {

inline constexpr int one = 1;

/// One routine: what both libraries do, and how the result that is in place is checked.
struct contest {
  const char* name;
  double operations;
  std::function<void()> prepare;
  std::function<void(const library&)> run;
  std::function<double()> check;
};

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

}  // namespace bench

// SPDX-License-Identifier: Apache-2.0
// Routines on a grid of processes of which one fails in the middle: every message ends before its
// data do. The end of a request reads its data, so that AddressSanitizer says if they are gone.
#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

#include <creek/host.hpp>
#include <creek/host/spmd.hpp>
#include <creek/linalg/grids.hpp>

#include "random_matrix.hpp"

namespace creek::linalg {
namespace {

struct failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A communicator that throws at its call number `calls`.
class failing_communicator {
 public:
  using memory_type = host_communicator::memory_type;
  struct request {
    ~request() {
      volatile std::byte last{};
      for (const std::byte each : data) last = each;
      (void)last;
    }
    void wait() { inner.wait(); }
    [[nodiscard]] bool test() { return inner.test(); }
    host_communicator::request inner;
    std::span<const std::byte> data;
  };

  failing_communicator(host_communicator& all, int calls) : all_(&all), calls_(calls) {}
  [[nodiscard]] int rank() const noexcept { return all_->rank(); }
  [[nodiscard]] int size() const noexcept { return all_->size(); }
  template <class T>
  [[nodiscard]] request isend(std::span<const T> data, int to) {
    count();
    return {all_->isend(data, to), std::as_bytes(data)};
  }
  template <class T>
  [[nodiscard]] request irecv(std::span<T> data, int from) {
    count();
    return {all_->irecv(data, from), std::as_bytes(data)};
  }
  template <class T>
  void send(std::span<const T> data, int to) {
    count();
    all_->send(data, to);
  }
  template <class T>
  void recv(std::span<T> data, int from) {
    count();
    all_->recv(data, from);
  }
  template <class T>
  void exchange(std::span<const T> out, int to, std::span<T> in, int from) {
    count();
    all_->exchange(out, to, in, from);
  }

 private:
  void count() {
    if (--calls_ == 0) throw failure("no more calls");
  }
  host_communicator* all_;
  int calls_;
};

class GridFailures : public ::testing::Test {
 protected:
  using view = grid_view<double>;
  /// Calls `run` with two matrices on a 2 x 2 grid; a rank fails at its call 1, 1 + step ...
  /// Without workers, and with those of one runtime for all ranks.
  template <class F>
  void fail_in(int last, int step, F run) {
    runtime rt{host{2}};
    for (runtime* const workers : {static_cast<runtime*>(nullptr), &rt}) {
      fail_in(last, step, grid_options{workers}, run);
    }
  }
  template <class F>
  void fail_in(int last, int step, const grid_options& options, F run) {
    int failures = 0;
    for (int calls = 1; calls < last; calls += step) {
      const auto body = [&](host_communicator& c) {
        failing_communicator all(c, c.rank() == calls % 4 ? calls : 0);
        const process_grid grid = process_grid::of(2, 2, c.rank());
        std::vector<double> a(static_cast<std::size_t>(n * n)), b = a;
        const view A(grid, n, n, block, block, a.data(), n);
        const view B(grid, n, n, block, block, b.data(), n);
        for (index_t j = 0; j < A.cols().local_size(); ++j) {
          for (index_t i = 0; i < A.rows().local_size(); ++i) {
            A.local()(i, j) = whole(A.rows().global(i), A.cols().global(j));
          }
        }
        run(all, A, B, options);
      };
      try {
        spmd(4, body);
      } catch (const failure&) {
        ++failures;
      }
    }
    EXPECT_GT(failures, last / 12);
  }
  static constexpr index_t n = 70,
                           block = 24;  // panels above communicator_options::hand_over_above
  std::mt19937 random{13};
  const matrix<double> whole = testing::random_matrix<double>(n, n, random);
  std::vector<index_t> pivots = std::vector<index_t>(static_cast<std::size_t>(n), n - 1);
};

TEST_F(GridFailures, OfLuLeaveNoMessageWithoutItsData) {
  fail_in(120, 3,
          [&](failing_communicator& all, const view& A, const view&, const grid_options& options) {
            auto found = pivots;
            (void)getrf_on_grid(all, A, std::span<index_t>(found), options);
          });
}
TEST_F(GridFailures, OfCholeskyLeaveNoMessageWithoutItsData) {
  for (const triangle stored : {triangle::lower, triangle::upper}) {
    fail_in(
        24, 1,
        [&](failing_communicator& all, const view& A, const view&, const grid_options& options) {
          for (index_t i = 0; i < n; ++i) {
            if (A.rows().owns(i) && A.cols().owns(i)) A.local(i, i + 1, i, i + 1)(0, 0) = 2.0 * n;
          }
          (void)potrf_on_grid(all, stored, A, options);
        });
  }
}
TEST_F(GridFailures, OfQrLeaveNoMessageWithoutItsData) {
  fail_in(120, 3,
          [&](failing_communicator& all, const view& A, const view&, const grid_options& options) {
            std::vector<double> tau(static_cast<std::size_t>(n));
            geqrf_on_grid(all, A, std::span<double>(tau), options);
          });
}
TEST_F(GridFailures, OfSolvesLeaveNoMessageWithoutItsData) {
  for (const op how : {op::none, op::transpose}) {
    fail_in(
        24, 1,
        [&](failing_communicator& all, const view& A, const view& B, const grid_options& options) {
          getrs_on_grid(all, how, A, std::span<const index_t>(pivots), B, options);
        });
  }
}
TEST_F(GridFailures, OfProductsLeaveNoMessageWithoutItsData) {
  for (const op how : {op::none, op::transpose}) {
    fail_in(
        24, 1,
        [&](failing_communicator& all, const view& A, const view& B, const grid_options& options) {
          std::vector<double> c(static_cast<std::size_t>(n * n));
          const view C(A.grid(), n, n, block, block, c.data(), n);
          gemm_on_grid(all, how, how, 1, A, B, 0, C, options);
        });
  }
}

}  // namespace
}  // namespace creek::linalg

// SPDX-License-Identifier: Apache-2.0
// LU and QR on a grid of processes of which one fails in the middle: every message ends before its
// data do. The end of a request reads its data, so that AddressSanitizer says if they are gone.
#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

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

/// Lets every rank fail at many of its calls. `routine` gets a communicator and a matrix.
template <class F>
void fail(F routine) {
  std::mt19937 random{13};
  const index_t n = 70, block = 24;  // panels above communicator_options::hand_over_above
  const auto whole = testing::random_matrix<double>(n, n, random);
  int failures = 0;
  for (int calls = 1; calls < 120; calls += 3) {
    const auto body = [&](host_communicator& c) {
      failing_communicator all(c, c.rank() == calls % 4 ? calls : 0);
      std::vector<double> memory(static_cast<std::size_t>(n * n));
      const grid_view<double> A(process_grid::of(2, 2, c.rank()), n, n, block, block, memory.data(),
                                n);
      for (index_t j = 0; j < A.cols().local_size(); ++j) {
        for (index_t i = 0; i < A.rows().local_size(); ++i) {
          A.local()(i, j) = whole(A.rows().global(i), A.cols().global(j));
        }
      }
      routine(all, A);
    };
    try {
      spmd(4, body);
    } catch (const failure&) {
      ++failures;
    }
  }
  EXPECT_GT(failures, 10);
}

TEST(GridFailures, OfLuLeaveNoMessageWithoutItsData) {
  fail([](failing_communicator& all, const grid_view<double>& A) {
    std::vector<index_t> pivots(static_cast<std::size_t>(A.rows().size));
    (void)getrf_on_grid(all, A, std::span<index_t>(pivots));
  });
}

TEST(GridFailures, OfQrLeaveNoMessageWithoutItsData) {
  fail([](failing_communicator& all, const grid_view<double>& A) {
    std::vector<double> tau(static_cast<std::size_t>(A.rows().size));
    geqrf_on_grid(all, A, std::span<double>(tau));
  });
}

}  // namespace
}  // namespace creek::linalg

// SPDX-License-Identifier: Apache-2.0
// Collective operations against what one rank computes, for any communicator: every rank calls each
// of these functions.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace creek::collectives_cases {

/// An associative operation that is not commutative: 2x2 integer matrices, modulo 2^32.
struct matrix {
  std::uint32_t a = 1, b = 0, c = 0, d = 1;
  friend bool operator==(const matrix&, const matrix&) = default;
};
inline matrix times(const matrix& x, const matrix& y) {
  return {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c,
          x.c * y.b + x.d * y.d};
}
inline matrix of_rank(int rank) {
  const auto r = static_cast<std::uint32_t>(rank);
  return {r + 1, r * r + 2, 3 * r + 1, r + 5};
}
inline matrix product(int first, int last) {
  matrix m;
  for (int rank = first; rank < last; ++rank) m = times(m, of_rank(rank));
  return m;
}

template <class Communicator>
void broadcasts(Communicator& c) {
  for (int root = 0; root < c.size(); ++root) {
    std::vector<int> data(1500, c.rank() == root ? root + 1 : -1);
    c.bcast(std::span{data}, root);
    ASSERT_EQ(data, std::vector<int>(1500, root + 1));
    ASSERT_EQ(c.bcast(c.rank(), root), root);
  }
}

template <class Communicator>
void reduces_in_rank_order(Communicator& c) {
  for (int root = 0; root < c.size(); ++root) {
    const matrix m = c.reduce(of_rank(c.rank()), times, root);
    if (c.rank() == root) {
      ASSERT_EQ(m, product(0, c.size()));
    }
  }
}

template <class Communicator>
void reduces_for_all_in_rank_order(Communicator& c) {
  ASSERT_EQ(c.allreduce(of_rank(c.rank()), times), product(0, c.size()));
  std::vector<long> data(700);
  std::iota(data.begin(), data.end(), c.rank());
  c.allreduce(std::span{data}, std::plus{});
  const long ranks_sum = long{c.size()} * (c.size() - 1) / 2;
  for (std::size_t i = 0; i < data.size(); ++i) {
    ASSERT_EQ(data[i], static_cast<long>(i) * c.size() + ranks_sum);
  }
}

template <class Communicator>
void gathers_and_scatters(Communicator& c) {
  for (int root = 0; root < c.size(); ++root) {
    const std::vector<int> mine{10 * c.rank(), 10 * c.rank() + 1, 10 * c.rank() + 2};
    std::vector<int> all(c.rank() == root ? mine.size() * static_cast<std::size_t>(c.size()) : 0);
    c.gather(std::span{mine}, std::span{all}, root);
    for (std::size_t i = 0; i < all.size(); ++i) {
      ASSERT_EQ(all[i], static_cast<int>(10 * (i / 3) + i % 3));
    }
    std::vector<int> back(3);
    c.scatter(std::span<const int>{all}, std::span{back}, root);
    ASSERT_EQ(back, mine);
    ASSERT_EQ(c.gather(c.rank(), root).size(), all.size() / 3);
  }
  std::vector<int> expected(static_cast<std::size_t>(c.size()));
  std::iota(expected.begin(), expected.end(), 0);
  ASSERT_EQ(c.allgather(c.rank()), expected);
}

template <class Communicator>
void sends_all_to_all(Communicator& c) {
  const auto n = static_cast<std::size_t>(c.size());
  std::vector<int> out(2 * n), in(2 * n);
  for (std::size_t to = 0; to < n; ++to) {
    out[2 * to] = 1000 * c.rank() + static_cast<int>(to);
    out[2 * to + 1] = -out[2 * to];
  }
  c.all_to_all(std::span<const int>{out}, std::span{in});
  for (std::size_t from = 0; from < n; ++from) {
    ASSERT_EQ(in[2 * from], 1000 * static_cast<int>(from) + c.rank());
    ASSERT_EQ(in[2 * from + 1], -in[2 * from]);
  }
}

template <class Communicator>
void sends_all_to_all_of_any_lengths(Communicator& c) {
  const auto length = [](int from, int to) {
    return static_cast<std::uint64_t>((from * 7 + to * 3) % 11) * 300;
  };
  std::vector<std::uint64_t> counts;
  std::vector<std::int64_t> out;
  for (int to = 0; to < c.size(); ++to) {
    counts.push_back(length(c.rank(), to));
    for (std::uint64_t i = 0; i < counts.back(); ++i) {
      out.push_back(c.rank() * 1'000'000 + to * 10'000 + static_cast<int>(i));
    }
  }
  const auto in =
      c.all_to_all_v(std::span<const std::int64_t>{out}, std::span<const std::uint64_t>{counts});
  auto next = in.data.begin();
  for (int from = 0; from < c.size(); ++from) {
    ASSERT_EQ(in.counts[static_cast<std::size_t>(from)], length(from, c.rank()));
    for (std::uint64_t i = 0; i < length(from, c.rank()); ++i) {
      ASSERT_EQ(*next++, from * 1'000'000 + c.rank() * 10'000 + static_cast<int>(i));
    }
  }
  ASSERT_EQ(next, in.data.end());
}

template <class Communicator>
void moves_all_to_all(Communicator& c) {
  std::vector<std::string> out;
  for (int to = 0; to < c.size(); ++to) {
    out.push_back(std::to_string(c.rank()) + " writes a letter to " + std::to_string(to));
  }
  const auto in = c.all_to_all_moved(std::move(out));
  for (int from = 0; from < c.size(); ++from) {
    ASSERT_EQ(in[static_cast<std::size_t>(from)],
              std::to_string(from) + " writes a letter to " + std::to_string(c.rank()));
  }
}

template <class Communicator>
void scans_in_rank_order(Communicator& c) {
  ASSERT_EQ(c.inclusive_scan(of_rank(c.rank()), times), product(0, c.rank() + 1));
  ASSERT_EQ(c.exclusive_scan(of_rank(c.rank()), times, matrix{}), product(0, c.rank()));
  ASSERT_EQ(c.exclusive_scan(1, std::plus{}, 100), 100 + c.rank());
}

}  // namespace creek::collectives_cases

// SPDX-License-Identifier: Apache-2.0
#include "word_count_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

namespace creek::tool::machines {
namespace {

/// Emitted, distinct and sent: what run_on_machines() adds up over the ranks.
struct totals {
  std::uint64_t emitted = 0, distinct = 0, sent = 0;
  friend totals operator+(const totals& a, const totals& b) noexcept {
    return {a.emitted + b.emitted, a.distinct + b.distinct, a.sent + b.sent};
  }
};

units::seconds nanoseconds(double count) {
  return units::seconds{count * 1e-9};
}

/// Sends part r of every worker to rank r; a rank's part for itself stays in its tables.
void exchange(model_communicator& c, const word_count_sizes& sizes) {
  const int ranks = c.size(), me = c.rank();
  std::vector<std::uint64_t> lengths;
  for (int to = 0; to < ranks; ++to) {
    for (int w = 0; w < sizes.workers; ++w) {
      lengths.push_back(to == me ? 0 : sizes.part(me, w, to));
    }
  }
  const std::vector<std::uint64_t> counts(static_cast<std::size_t>(ranks),
                                          static_cast<std::uint64_t>(sizes.workers));
  const auto theirs = c.all_to_all_v(std::span<const std::uint64_t>(lengths),
                                     std::span<const std::uint64_t>(counts));
  const auto workers = static_cast<std::size_t>(sizes.workers);
  const auto first = [&](int rank) { return static_cast<std::size_t>(rank) * workers; };
  for (int step = 1; step < ranks; ++step) {
    const int to = (me + step) % ranks, from = (me + ranks - step) % ranks;
    std::vector<model_communicator::request> begun;
    for (std::size_t i = 0; i < workers; ++i) {
      begun.push_back(c.irecv(blank{theirs.data[first(from) + i]}, from));
    }
    for (std::size_t i = 0; i < workers; ++i) {
      begun.push_back(c.isend(blank{lengths[first(to) + i]}, to));
    }
    for (auto& each : begun) each.wait();
  }
}

void gather(model_communicator& c, const constants& costs, const word_count_sizes& sizes) {
  (void)c.reduce(totals{}, std::plus{}, 0);
  const std::uint64_t mine = c.rank() == 0 ? 0 : sizes.result(c.rank());
  if (c.rank() != 0) c.compute(nanoseconds(sizes.result_pairs * costs.put_ns_per_pair));
  const std::vector<std::uint64_t> all = c.gather(mine, 0);
  if (c.rank() != 0) return c.send(blank{mine}, 0);
  for (int from = 1; from < c.size(); ++from) {
    c.recv(blank{all[static_cast<std::size_t>(from)]}, from);
    c.compute(nanoseconds(sizes.result_pairs * costs.merge_ns_per_pair));
  }
}

}  // namespace

void word_count_rank(model_communicator& c, const constants& costs, const word_count_sizes& sizes) {
  const double workers = sizes.workers;
  const double map =
      sizes.input_bytes * costs.map_ns_per_byte + sizes.table_pairs * costs.table_ns_per_pair;
  const double reduce = sizes.grouped_pairs * costs.reduce_ns_per_pair;
  if (c.size() == 1) return c.compute(nanoseconds((map + reduce) / workers));
  (void)c.bcast(std::array<std::uint64_t, 2>{}, 0);
  c.compute(nanoseconds(map / workers));
  exchange(c, sizes);
  // A rank gets as many pairs as it sends.
  const double group = sizes.sent_pairs * costs.group_ns_per_pair;
  c.compute(nanoseconds((group + reduce) / workers));
  gather(c, costs, sizes);
}

double different_words(double words, double vocabulary) {
  double sum = 0;
  for (double rank = 1; rank <= vocabulary; ++rank) sum += 1 / rank;
  double expected = 0;
  for (double rank = 1; rank <= vocabulary; ++rank) {
    expected += -std::expm1(words * std::log1p(-1 / (rank * sum)));
  }
  return expected;
}

word_count_sizes sizes_of_text(const constants& costs, double bytes, int ranks, int workers,
                               std::uint64_t top) {
  word_count_sizes made;
  made.input_bytes = bytes / ranks;
  made.table_pairs = different_words(made.input_bytes / costs.word_bytes, costs.vocabulary);
  made.sent_pairs = made.table_pairs * (ranks - 1) / ranks;
  const double own = different_words(bytes / costs.word_bytes, costs.vocabulary) / ranks;
  // Pairs that were sent stay in the table, too.
  made.grouped_pairs = made.sent_pairs + own;
  made.result_pairs = own;
  if (top != 0) made.result_pairs = std::min(made.result_pairs, static_cast<double>(top));
  made.workers = workers;
  const auto part =
      static_cast<std::uint64_t>(made.table_pairs * costs.pair_bytes / ranks / workers);
  const auto result = static_cast<std::uint64_t>(made.result_pairs * costs.pair_bytes);
  made.part = [part](int, int, int) { return part; };
  made.result = [result](int) { return result; };
  return made;
}

}  // namespace creek::tool::machines

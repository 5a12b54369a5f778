// SPDX-License-Identifier: Apache-2.0
#include "points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <tuple>

#include <creek/core/error.hpp>
#include <creek/core/io/data_fault.hpp>
#include <creek/mapreduce/failures.hpp>
#include <creek/mapreduce/jobs/k_means.hpp>

namespace creek::tool {
namespace {

/// A piece that some rank has read.
struct piece_facts {
  std::uint64_t file, offset, columns, values;
  std::int64_t rank;
};

/// Returns the pieces of all ranks in the order of the input.
std::vector<piece_facts> pieces_of_all(std::span<const piece_of_points> pieces, rank_group* ranks) {
  std::vector<piece_facts> own;
  for (const auto& [where, piece] : pieces) {
    own.push_back({where.file, where.offset, piece.columns, piece.values.size(),
                   ranks == nullptr ? 0 : ranks->rank()});
  }
  if (ranks == nullptr) return own;
  const std::vector<std::uint64_t> counts = ranks->allgather(std::uint64_t{own.size()});
  std::vector<piece_facts> all;
  for (int rank = 0; rank < ranks->size(); ++rank) {
    const std::size_t before = all.size();
    if (rank == ranks->rank()) all.insert(all.end(), own.begin(), own.end());
    all.resize(before + counts[static_cast<std::size_t>(rank)]);
    ranks->bcast(std::span(all).subspan(before), rank);
  }
  std::ranges::sort(all, {},
                    [](const piece_facts& one) { return std::tuple(one.file, one.offset); });
  return all;
}

/// Returns the number of columns, which all pieces have.
std::size_t columns_of(std::span<const piece_facts> all, const mapreduce::text_files& files) {
  if (all.empty()) throw error(make_error_code(data_fault::truncated), "no points");
  const auto name = [&](const piece_facts& one) {
    return files.name(static_cast<std::uint32_t>(one.file));
  };
  for (const piece_facts& one : all) {
    if (one.columns == all.front().columns) continue;
    fail(data_fault::malformed, fmt::format("{}: {} columns, and {} has {}", name(one), one.columns,
                                            name(all.front()), all.front().columns));
  }
  return all.front().columns;
}

/// Sends each rank its share of the points.
class point_exchange {
 public:
  point_exchange(rank_group& ranks, cloud& to) : ranks_(&ranks), to_(&to) {
    const auto own = mapreduce::k_means_share(to.count, ranks.rank(), ranks.size());
    to.points.resize(own.count * to.dimensions);
  }

  /// Takes the next piece, which begins with point `at`; `values` is empty on other ranks than that
  /// which has it.
  void take(const piece_facts& piece, std::size_t at, std::span<const float> values) {
    const std::size_t end = at + piece.values / to_->dimensions;
    const auto from = static_cast<int>(piece.rank);
    for (int rank = 0; rank < ranks_->size(); ++rank) {
      if (from != ranks_->rank() && rank != ranks_->rank()) continue;
      const auto share = mapreduce::k_means_share(to_->count, rank, ranks_->size());
      const std::size_t first = std::max(at, share.first);
      const std::size_t last = std::min(end, share.first + share.count);
      if (first >= last) continue;
      const std::size_t count = (last - first) * to_->dimensions;
      const auto out =
          values.empty() ? values : values.subspan((first - at) * to_->dimensions, count);
      if (rank != ranks_->rank()) {
        begun_.push_back(ranks_->isend(out, rank));
        continue;
      }
      const auto in =
          std::span(to_->points).subspan((first - share.first) * to_->dimensions, count);
      if (from == rank) {
        std::ranges::copy(out, in.begin());
      } else {
        begun_.push_back(ranks_->irecv(in, from));
      }
    }
  }
  void finish() {
    for (auto& each : begun_) each.wait();
  }

 private:
  rank_group* ranks_;
  cloud* to_;
  std::deque<rank_group::request> begun_;
};

}  // namespace

cloud join_points(std::span<piece_of_points> pieces, const mapreduce::text_files& files,
                  rank_group* ranks) {
  if (ranks != nullptr) ranks->doing("sharing points");
  const std::vector<piece_facts> all = pieces_of_all(pieces, ranks);
  cloud made;
  // One rank reports a fault.
  if (ranks == nullptr || ranks->rank() == 0) made.dimensions = columns_of(all, files);
  if (ranks != nullptr) made.dimensions = ranks->bcast(made.dimensions, 0);
  for (const piece_facts& one : all) made.count += one.values / made.dimensions;
  if (ranks == nullptr) {
    made.points.reserve(made.count * made.dimensions);
    for (auto& [where, piece] : pieces) {
      made.points.insert(made.points.end(), piece.values.begin(), piece.values.end());
      piece.values = {};
    }
    return made;
  }
  point_exchange exchange(*ranks, made);
  std::size_t at = 0, own = 0;
  for (const piece_facts& one : all) {
    const bool here = one.rank == ranks->rank();
    exchange.take(one, at, here ? pieces[own++].value.values : std::span<const float>());
    at += one.values / made.dimensions;
  }
  exchange.finish();
  return made;
}

}  // namespace creek::tool

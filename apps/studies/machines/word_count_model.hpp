// SPDX-License-Identifier: Apache-2.0
// Word count on ranks with the messages of run_on_machines() (creek/mapreduce/machines.hpp), whose
// content nobody computes.
#pragma once

#include <cstdint>
#include <functional>

#include "constants.hpp"
#include "model_communicator.hpp"

namespace creek::tool::machines {

/// Sizes of one run, which every rank knows.
struct word_count_sizes {
  double input_bytes = 0;    ///< of each rank
  double table_pairs = 0;    ///< different words of each rank
  double sent_pairs = 0;     ///< that each rank sends to others, and gets from them
  double grouped_pairs = 0;  ///< in the table of each rank, after it has received pairs
  double result_pairs = 0;   ///< that each rank has in the result
  int workers = 1;           ///< of each rank
  /// Returns the bytes of the pairs that a worker of `from` has for another rank `to`.
  std::function<std::uint64_t(int from, int worker, int to)> part;
  /// Returns the bytes of the result of a rank other than 0.
  std::function<std::uint64_t(int rank)> result;
};

/// One rank of the run.
void word_count_rank(model_communicator& c, const constants& costs, const word_count_sizes& sizes);

/// Returns the expected number of different words among `words` words that are drawn from
/// `vocabulary` words by Zipf's law with exponent 1.
[[nodiscard]] double different_words(double words, double vocabulary);

/// Returns the sizes of a run over a text of that many bytes in equal shares, of which the result
/// has the `top` most frequent words; 0: all.
[[nodiscard]] word_count_sizes sizes_of_text(const constants& costs, double bytes, int ranks,
                                             int workers, std::uint64_t top);

}  // namespace creek::tool::machines

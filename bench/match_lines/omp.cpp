// SPDX-License-Identifier: Apache-2.0
// The standard library's search over a share of the text per thread.
#include "config.hpp"
#include "harness/text_shares.hpp"

namespace bench::match_lines {
namespace {

sample count(const settings& s) {
  const std::string text = text_of(s);
  counts lines{};
  sample result{.work = static_cast<double>(text.size())};
  result.total_ns = timed([&] {
    const auto shares = shares_of_text(text, s.workers);
#pragma omp parallel for num_threads(s.workers)
    for (unsigned self = 0; self < s.workers; ++self) {
      counts own{};
      count_in(shares[self], own);
#pragma omp critical
      for (std::size_t k = 0; k < lines.size(); ++k) lines[k] += own[k];
    }
  });
  result.answer = answer_of(lines);
  return result;
}

sample filter(const settings& s) {
  const std::string text = text_of(s);
  std::vector<std::vector<std::string_view>> found(s.workers);
  sample result{.work = static_cast<double>(text.size())};
  result.total_ns = timed([&] {
    const auto shares = shares_of_text(text, s.workers);
#pragma omp parallel for num_threads(s.workers)
    for (unsigned self = 0; self < s.workers; ++self) filter_in(shares[self], found[self]);
  });
  std::uint64_t lines = 0, bytes = 0;
  for (const auto& some : found) {
    lines += some.size();
    for (const auto line : some) bytes += line.size();
  }
  result.answer = answer_of(lines, bytes);
  return result;
}

const registration counts_lines{counting, count};
const registration filters_lines{filtering, filter};

}  // namespace
}  // namespace bench::match_lines

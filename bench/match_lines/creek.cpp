// SPDX-License-Identifier: Apache-2.0
// creek's own jobs.
#include <creek/mapreduce.hpp>
#include <optional>

#include "config.hpp"
#include "harness/creek_runtime.hpp"

namespace bench::match_lines {
namespace {

using namespace creek::mapreduce;

/// Runs a job over the text and gives its result to `answer`.
template <class Job, class Answer>
sample measure(const settings& s, const Job& job, const Answer& answer) {
  const std::string text = text_of(s);
  sample result{.work = static_cast<double>(text.size())};
  inside(s, [&] {
    text_view input(text, std::size_t{1} << 20, text_units::lines);
    const auto search = [&] { return run(job, input); };
    std::optional<decltype(search())> found;
    result.total_ns = timed([&] { found.emplace(search()); });
    result.answer = answer(*found);
  });
  return result;
}

sample count(const settings& s) {
  const string_match job({strings.begin(), strings.end()});
  return measure(s, job, [](const auto& found) {
    counts lines{};
    for (const auto& [key, value] : found) lines[key] = value.lines;
    return answer_of(lines);
  });
}

sample filter(const settings& s) {
  const line_filter job(std::string(wanted), {});
  return measure(s, job, [](const auto& pieces) {
    std::uint64_t lines = 0, bytes = 0;
    for (const auto& [from, piece] : pieces) {
      lines += piece.found;
      for (const auto& some : piece.lines) bytes += some.text.size();
    }
    return answer_of(lines, bytes - lines);  // each ends with a line end
  });
}

const registration counts_lines{counting, count};
const registration filters_lines{filtering, filter};

}  // namespace
}  // namespace bench::match_lines

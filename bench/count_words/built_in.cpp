// SPDX-License-Identifier: Apache-2.0
// Words counted by the job that creek ships.
#include <creek/mapreduce.hpp>
#include <creek/tasking.hpp>
#include <optional>

#include "config.hpp"

namespace bench::count_words {
namespace {

using namespace creek::mapreduce;

sample measure(const settings& s) {
  const std::string text = text_of(s);
  sample result{.work = static_cast<double>(text.size())};
  creek::runtime rt(creek::scheduler_options{.workers = s.workers});
  rt.run([&] {
    const auto count = [&] { return run(word_count{}, std::string_view(text), {.sort = false}); };
    std::optional<decltype(count())> counts;
    result.total_ns = timed([&] { counts.emplace(count()); });
    key_digest digest;
    for (const auto& [key, number] : *counts) digest.add(number_of(key), number);
    result.answer = digest.answer();
  });
  return result;
}

const registration registered{what, measure};
const registration counts_real{real, measure};

}  // namespace
}  // namespace bench::count_words

// SPDX-License-Identifier: Apache-2.0
// The jobs that the MapReduce studies of the host and of the simulated chip have in common: what
// each reads, the ways it can be run, and whether an answer is right.
#pragma once

#include <algorithm>
#include <array>
#include <creek/core/error.hpp>
#include <creek/mapreduce.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <support/zipf_text.hpp>

#include "mapreduce_inputs.hpp"
#include "mapreduce_jobs.hpp"
#include "way.hpp"

namespace creek::tool::bench {

/// A job, what it reads and its answer. `Filling` is the job in the form that fills an array, or
/// something else where there is none; `Right` is called with the records of a run.
template <class Job, class Data, class Right, class Filling = std::nullptr_t>
struct problem {
  Job job;
  Data data;
  Right right;
  Filling filling{};

  [[nodiscard]] static constexpr bool has(way how) {
    if (how == way::automatic) return mapreduce::combines_or_groups<Job>;
    return how != way::fill || mapreduce::fills<Filling>;
  }
  /// Calls `f(job, options)` with the job and the options that make a run go that way.
  template <class F>
  auto with(way how, F&& f) const {
    using mapreduce::strategy;
    if constexpr (mapreduce::fills<Filling>) {
      if (how == way::fill) return f(filling, mapreduce::options{});
    }
    return f(job, mapreduce::options{.how = how == way::combine ? strategy::combine_on_emit
                                            : how == way::group ? strategy::emit_and_group
                                                                : strategy::automatic});
  }
};

/// Checks the records of a job against those found without creek.
template <class Record>
struct same_records {
  std::vector<Record> expected;

  /// Compares records; a filled array also has records of keys that did not occur.
  template <class Other>
  [[nodiscard]] bool operator()(const mapreduce::record_vector<Other>& records, way how) const {
    using value_type = decltype(Other::value);
    auto next = expected.begin();
    for (const auto& [key, value] : records) {
      if (next != expected.end() && next->key == key) {
        if (!(static_cast<value_type>(next++->value) == value)) return false;
      } else if (how != way::fill || !(value == value_type{})) {
        return false;
      }
    }
    return next == expected.end();
  }
};

template <class Job, class Data>
same_records<mapreduce::record_of<Job>> sequential(const Job& job, const Data& data) {
  std::map<typename Job::key_type, typename Job::value_type> found;
  auto emit = [&](const typename Job::key_type& key, typename Job::value_type value) {
    const auto [at, fresh] = found.try_emplace(key, value);
    if (!fresh) job.combine(at->second, std::move(value));
  };
  const auto from = data.parts(1);
  for (std::size_t i = 0; i < from.splits(); ++i) {
    from.visit(i, [&](const auto& split) { job.map(split, emit); });
  }
  same_records<mapreduce::record_of<Job>> made;
  for (const auto& [key, value] : found) made.expected.push_back({key, value});
  std::ranges::sort(made.expected,
                    [&](const auto& a, const auto& b) { return comes_before(job, a, b); });
  return made;
}

/// Checks the lines of a text that have a string in them.
struct same_lines {
  std::uint64_t seen = 0, found = 0;
  std::string lines;

  same_lines(std::string_view text, std::string_view pattern) {
    while (!text.empty()) {
      const std::string_view line = text.substr(0, text.find('\n') + 1);
      ++seen;
      if (line.find(pattern) != std::string_view::npos) {
        ++found;
        lines += line;
      }
      text.remove_prefix(line.size());
    }
  }

  template <class Records>
  [[nodiscard]] bool operator()(const Records& records, way) const {
    same_lines made("", "");
    for (const auto& [from, piece] : records) {
      made.seen += piece.seen;
      made.found += piece.found;
      for (const auto& line : piece.lines) made.lines += line.text;
    }
    return made.seen == seen && made.found == found && made.lines == lines;
  }
};

inline constexpr std::size_t vocabulary_words = 20'000;

/// Returns `scale` times about 400 KB of text by Zipf's law, in whole lines.
inline std::string study_text(std::size_t scale) {
  std::string text = creek_bench::zipf_text(scale * 400'000, vocabulary_words);
  text.back() = '\n';
  return text;
}
/// Returns the `rank`-th most frequent word of the text's vocabulary. The words below have several
/// letters: they are in a twelfth of the lines (20), in one of 130 (201), in one of 800 (500).
inline std::string study_word(std::size_t rank) {
  return creek_bench::zipf_vocabulary(vocabulary_words, 1)[rank];
}

/// Makes a problem whose answer is that of a sequential loop over the job's own map.
template <class Job, class Data, class Filling = std::nullptr_t>
auto problem_of(Job job, Data data, Filling filling = {}) {
  auto right = sequential(job, data);
  return problem<Job, Data, decltype(right), Filling>{std::move(job), std::move(data),
                                                      std::move(right), std::move(filling)};
}

inline auto matched_strings(std::size_t scale) {
  std::vector<std::string> patterns{study_word(20), study_word(201), study_word(500)};
  return problem_of(match_by_line{patterns}, text_data(study_text(scale), text_data::units::lines),
                    mapreduce::string_match(patterns));
}

inline auto filtered_lines(std::size_t scale) {
  const std::string pattern = study_word(201);
  const mapreduce::line_filter job(pattern, {});
  text_data data(study_text(scale), text_data::units::lines);
  same_lines right(data.text(), pattern);
  return problem<mapreduce::line_filter, text_data, same_lines>{job, std::move(data),
                                                                std::move(right)};
}

/// Calls `study(name, problem)` with each workload, which is made only then. A study that is slow
/// to compile instantiates the members, which are not inline for that reason, in several sources.
template <class Study>
struct workloads {
  static void word_count(const char* name, std::size_t scale, Study& study);
  static void histogram(const char* name, std::size_t scale, Study& study);
  static void linear_regression(const char* name, std::size_t scale, Study& study);
  static void k_means(const char* name, std::size_t scale, Study& study);
  static void string_match(const char* name, std::size_t scale, Study& study);
  static void inverted_index(const char* name, std::size_t scale, Study& study);
  static void line_filter(const char* name, std::size_t scale, Study& study);
};

template <class Study>
void workloads<Study>::word_count(const char* name, std::size_t scale, Study& study) {
  study(name, problem_of(mapreduce::word_count{}, text_data(study_text(scale))));
}
template <class Study>
void workloads<Study>::histogram(const char* name, std::size_t scale, Study& study) {
  study(name,
        problem_of(bench::histogram{}, array_data<mapreduce::pixel>{random_pixels(scale * 20'000)},
                   mapreduce::colour_histogram{}));
}
template <class Study>
void workloads<Study>::linear_regression(const char* name, std::size_t scale, Study& study) {
  study(name, problem_of(bench::linear_regression{},
                         array_data<sample>{random_samples(scale * 100'000)}));
}
template <class Study>
void workloads<Study>::k_means(const char* name, std::size_t scale, Study& study) {
  study(name, problem_of(random_centres(), array_data<point>{random_points(scale * 10'000)}));
}
template <class Study>
void workloads<Study>::string_match(const char* name, std::size_t scale, Study& study) {
  study(name, matched_strings(scale));
}
template <class Study>
void workloads<Study>::inverted_index(const char* name, std::size_t scale, Study& study) {
  study(name, problem_of(mapreduce::inverted_index{},
                         text_data(study_text(scale), text_data::units::words, 20'000)));
}
template <class Study>
void workloads<Study>::line_filter(const char* name, std::size_t scale, Study& study) {
  study(name, filtered_lines(scale));
}

template <class Study>
struct workload_offer {
  const char* name;
  void (*show)(const char* name, std::size_t scale, Study& study);
};
template <class Study>
inline constexpr std::array<workload_offer<Study>, 7> workload_offers{{
    {"word-count", workloads<Study>::word_count},
    {"histogram", workloads<Study>::histogram},
    {"linear-regression", workloads<Study>::linear_regression},
    {"k-means", workloads<Study>::k_means},
    {"string-match", workloads<Study>::string_match},
    {"inverted-index", workloads<Study>::inverted_index},
    {"line-filter", workloads<Study>::line_filter},
}};

/// Shows the study the workloads in `wanted`, or all if it is empty. Throws usage_error for an
/// unknown name.
template <class Study>
void show_workloads(const std::vector<std::string>& wanted, std::size_t scale, Study& study) {
  constexpr const auto& offers = workload_offers<Study>;
  const auto is_wanted = [&](const char* name) {
    return wanted.empty() || std::ranges::find(wanted, name) != wanted.end();
  };
  for (const std::string& name : wanted) {
    if (std::ranges::none_of(offers, [&](const auto& o) { return name == o.name; })) {
      throw usage_error("unknown workload '" + name + "'");
    }
  }
  for (const auto& offer : offers) {
    if (is_wanted(offer.name)) offer.show(offer.name, scale, study);
  }
}

}  // namespace creek::tool::bench

// SPDX-License-Identifier: Apache-2.0
// The runs of the study of the host (host_mapreduce.cpp). Workloads are compiled in
// host_study_arrays.cpp and host_study_texts.cpp.
#pragma once

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <support/median.hpp>
#include <utility>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/tasking/runtime.hpp>

#include "mapreduce_scaling.hpp"
#include "mapreduce_workloads.hpp"
#include "output/progress_line.hpp"

namespace creek::tool::bench {

constexpr int pieces_of_input = 256;  // processed by the workers

struct host_options {
  std::vector<unsigned> workers;
  int runs = 5;
  std::vector<std::string> workloads;
  std::vector<std::string> strategies;
  bool quick = false;
  bool as_json = false;
  std::string csv;
};

/// Times of one run, in milliseconds.
struct host_run {
  double total = 0;
  std::array<double, mapreduce::stage_count> stages{};
};

/// All runs of each point; the figures of a point are the medians of its runs.
struct host_series : scaling_series {
  std::vector<std::vector<host_run>> runs;

  void take_medians() {
    for (std::size_t i = 0; i < points.size(); ++i) {
      points[i].total_ms = median_of(runs[i], [](const host_run& r) { return r.total; });
      for (std::size_t s = 0; s < mapreduce::stage_count; ++s) {
        points[i].stages_ms[s] = median_of(runs[i], [s](const host_run& r) { return r.stages[s]; });
      }
    }
  }

 private:
  template <class Figure>
  static double median_of(const std::vector<host_run>& some, Figure figure) {
    std::vector<double> values;
    for (const host_run& one : some) values.push_back(figure(one));
    return ::bench::median(std::move(values));
  }
};

inline double milliseconds_of(std::chrono::duration<double, std::milli> length) {
  return length.count();
}

/// Runs the workloads that it is called with.
class host_study {
 public:
  host_study(const host_options& given, std::vector<way> ways, const std::vector<unsigned>& workers)
      : given_(&given), ways_(std::move(ways)) {
    for (const unsigned n : workers) {
      scheduler_options chosen = scheduler_options::from_environment();
      chosen.workers = n;
      runtimes_.push_back(std::make_unique<runtime>(chosen, "host"));
    }
  }

  template <class Problem>
  void operator()(const char* name, const Problem& what) {
    std::vector<host_series> series;
    for (const way how : ways_) {
      if (!Problem::has(how)) continue;
      host_series one{{name, what.data.parts(1).bytes(), how, {}}, {}};
      for (const auto& rt : runtimes_) {
        one.points.push_back({static_cast<int>(rt->worker_count()), 0, {}});
      }
      one.runs.resize(runtimes_.size());
      series.push_back(std::move(one));
    }
    for (int round = -1; round < given_->runs; ++round) {  // the first warms up
      line_.show(fmt::format("{}, round {} of {}", name, round + 1, given_->runs));
      for (host_series& one : series) {
        for (std::size_t i = 0; i < runtimes_.size(); ++i) {
          const host_run made = run_once(what, one, *runtimes_[i]);
          if (round >= 0) one.runs[i].push_back(made);
        }
      }
    }
    for (host_series& one : series) {
      one.take_medians();
      all_.push_back(std::move(one));
    }
  }

  [[nodiscard]] const std::vector<host_series>& all() const { return all_; }

 private:
  template <class Problem>
  host_run run_once(const Problem& what, const host_series& one, runtime& rt) {
    return what.with(one.how, [&](const auto& job, const mapreduce::options& chosen) {
      auto from = what.data.parts(pieces_of_input);
      const auto start = std::chrono::steady_clock::now();
      const auto result = rt.run([&] { return mapreduce::run(job, from, chosen); });
      host_run made{milliseconds_of(std::chrono::steady_clock::now() - start), {}};
      if (!what.right(result.records, one.how)) {
        throw error(EILSEQ, fmt::format("mapreduce: {} {} with {} workers: wrong result",
                                        one.workload, describe(one.how), rt.worker_count()));
      }
      for (std::size_t i = 0; i < made.stages.size(); ++i) {
        made.stages[i] = milliseconds_of(result.times.spent[i]);
      }
      return made;
    });
  }

  const host_options* given_;
  std::vector<way> ways_;
  std::vector<std::unique_ptr<runtime>> runtimes_;
  std::vector<host_series> all_;
  progress_line line_;
};

extern template void workloads<host_study>::word_count(const char*, std::size_t, host_study&);
extern template void workloads<host_study>::histogram(const char*, std::size_t, host_study&);
extern template void workloads<host_study>::linear_regression(const char*, std::size_t,
                                                              host_study&);
extern template void workloads<host_study>::k_means(const char*, std::size_t, host_study&);
extern template void workloads<host_study>::string_match(const char*, std::size_t, host_study&);
extern template void workloads<host_study>::inverted_index(const char*, std::size_t, host_study&);
extern template void workloads<host_study>::line_filter(const char*, std::size_t, host_study&);

}  // namespace creek::tool::bench

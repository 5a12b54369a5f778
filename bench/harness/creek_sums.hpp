// SPDX-License-Identifier: Apache-2.0
// A job of creek that fills an array of sums.
#pragma once
#include <creek/mapreduce.hpp>
#include <optional>

#include "array_sums.hpp"
#include "creek_runtime.hpp"

namespace bench {

template <class Job, class T>
sample creek_sums(const settings& s, const std::vector<T>& data) {
  sample result;
  inside(s, [&] {
    result = timed_sums(data, [](std::span<const T> all) {
      std::vector<typename Job::value_type> sums;
      for (const auto& each : creek::mapreduce::run(Job{}, all)) sums.push_back(each.value);
      return sums;
    });
  });
  return result;
}

}  // namespace bench

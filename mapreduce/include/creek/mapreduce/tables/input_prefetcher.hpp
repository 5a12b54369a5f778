// SPDX-License-Identifier: Apache-2.0
// Fetching of the input that a job's map() is going to read.
#pragma once

#include <algorithm>
#include <creek/core/threads/prefetch.hpp>
#include <creek/mapreduce/inputs/prefetch_text.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace creek::mapreduce::detail {

/// Counts the pairs that a mapper emits. From the number of bytes per pair of the split before it
/// estimates where in a split map() is, and fetches what comes next: between two elements a mapper
/// does so much that processors fetch too little themselves. A wrong estimate costs time only.
class input_prefetcher {
 public:
  /// Begins a split; `memory` is what map() will read from its begin to its end, if that is known.
  void begin(std::string_view memory) noexcept {
    measure();
    split_bytes_ = memory.size();
    next_ = memory.data();
    end_ = next_ + memory.size();
    pairs_before_ = pairs();
    if (step_ != 0) fetch(step_ + fetched_ahead);
  }

  [[gnu::always_inline]] void count_pair() noexcept {
    if (--until_look_ == 0) [[unlikely]]
      look();
  }
  [[nodiscard]] std::uint64_t pairs() const noexcept { return pairs_at_look_ - until_look_; }

 private:
  static constexpr std::uint32_t period = 64;       // pairs
  static constexpr std::size_t max_step = 1 << 13;  // bytes: many lines are not fetched at once
  static constexpr std::size_t line = 64;

  /// Sets the step by the split that has ended.
  void measure() noexcept {
    const std::uint64_t pairs_of_split = pairs() - pairs_before_;
    if (split_bytes_ == 0 || pairs_of_split == 0) return;
    const std::uint64_t bytes = split_bytes_ * period / pairs_of_split;
    step_ = bytes <= max_step ? static_cast<std::size_t>(bytes) : 0;
  }
  [[gnu::noinline]] void look() noexcept {
    pairs_at_look_ += period;
    until_look_ = period;
    fetch(step_);
  }
  void fetch(std::size_t bytes) noexcept {
    const std::size_t size = std::min(bytes, static_cast<std::size_t>(end_ - next_));
    for (std::size_t at = 0; at < size; at += line) prefetch_to_read(next_ + at);
    next_ += size;
  }

  std::uint32_t until_look_ = period;
  std::uint64_t pairs_at_look_ = period;  // pairs at the next look
  std::size_t step_ = 0;        // bytes that `period` pairs come from; 0: not known, or many
  const char* next_ = nullptr;  // not fetched yet
  const char* end_ = nullptr;
  std::uint64_t pairs_before_ = 0;
  std::size_t split_bytes_ = 0;
};

}  // namespace creek::mapreduce::detail

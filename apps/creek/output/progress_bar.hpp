// SPDX-License-Identifier: Apache-2.0
// A line on the terminal that shows how far a run is.
#pragma once

#include <condition_variable>
#include <creek/mapreduce/options.hpp>
#include <cstddef>
#include <mutex>
#include <thread>

namespace creek::tool {

/// Draws on standard error ten times a second, from its own thread, while it lives, and erases the
/// line at the end. Draws nothing for runs shorter than a third of a second. Without a bar if the
/// number of splits is unknown, which is 0.
class progress_bar {
 public:
  progress_bar(const mapreduce::progress& watched, std::size_t splits);
  ~progress_bar();
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;

 private:
  void draw_until(std::stop_token stop);

  const mapreduce::progress& watched_;
  std::size_t splits_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

}  // namespace creek::tool

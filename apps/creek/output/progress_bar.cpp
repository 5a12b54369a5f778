// SPDX-License-Identifier: Apache-2.0
// Draws the progress bar.
#include "progress_bar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

namespace creek::tool {
namespace {

std::string bar_of(std::size_t done, std::size_t splits) {
  constexpr std::size_t width = 40;
  const std::size_t filled = std::min(width, done * width / splits);
  return fmt::format("[{:<{}}] {:3}%  ", std::string(filled, '#'), width, filled * 100 / width);
}

void draw(const mapreduce::progress& watched, std::size_t splits, double seconds) {
  const auto done = static_cast<std::size_t>(watched.splits_done.load(std::memory_order_relaxed));
  const auto bytes = static_cast<double>(watched.bytes_done.load(std::memory_order_relaxed));
  const std::string line =
      fmt::format("\r{}{:.0f} MB  {:.0f} MB/s ", splits == 0 ? std::string() : bar_of(done, splits),
                  bytes / 1e6, bytes / 1e6 / seconds);
  std::fputs(line.c_str(), stderr);  // failing to draw the bar does not fail the run
  std::fflush(stderr);
}

}  // namespace

progress_bar::progress_bar(const mapreduce::progress& watched, std::size_t splits)
    : watched_(watched),
      splits_(splits),
      thread_([this](std::stop_token stop) { draw_until(stop); }) {}

progress_bar::~progress_bar() {
  thread_.request_stop();
  thread_.join();
}

void progress_bar::draw_until(std::stop_token stop) {
  using namespace std::chrono_literals;
  const auto start = std::chrono::steady_clock::now();
  bool drawn = false;
  std::unique_lock lock(mutex_);
  for (auto pause = 300ms; !stop.stop_requested(); pause = 100ms) {
    if (wake_.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); })) break;
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    draw(watched_, splits_, spent.count());
    drawn = true;
  }
  if (drawn) std::fputs("\r\x1b[K", stderr);
}

}  // namespace creek::tool

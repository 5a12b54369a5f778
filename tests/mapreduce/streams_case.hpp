// SPDX-License-Identifier: Apache-2.0
// Fixture of tests of streams: files of every format, and their pieces as several workers see them.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <creek/mapreduce.hpp>
#include <creek/tasking/parallel_for.hpp>

#include "file_case.hpp"
#include "support/few_cases.hpp"

namespace creek::mapreduce {

namespace fs = std::filesystem;

struct seen_piece {
  std::uint64_t offset;
  std::string text;
  std::uint64_t first_line;
};

/// Calls `visit(i)` for all splits: 0 workers are three plain threads.
template <class Visit>
void visit_all(std::size_t splits, unsigned workers, const Visit& visit) {
  if (workers != 0) {
    runtime rt(scheduler_options{.workers = workers});
    rt.run([&] {
      parallel_for(std::size_t{0}, std::size_t{workers},
                   [&](std::size_t k) {
                     for (std::size_t i = k; i < splits; i += workers) visit(i);
                   },
                   {.grain = 1});
    });
    return;
  }
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr why;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      try {
        for (std::size_t i; (i = next.fetch_add(1)) < splits;) visit(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        why = std::current_exception();
      }
    });
  }
  threads.clear();
  if (why) std::rethrow_exception(why);
}

class Streams : public file_case {
 protected:
  static constexpr std::array formats = {"gzip", "zstd", "xz", "xz blocks", "bzip2", "lz4"};
  static constexpr std::array all_workers = {0u, 3u, 1u, 2u, 5u};
  static constexpr std::span<const unsigned> numbers_of_workers{
      all_workers.data(), support::few_cases ? 2 : all_workers.size()};

  void add_member(std::string_view format, const std::string& name, std::string_view text) const {
    if (format == "gzip") compress(name, text);
    if (format == "zstd") compress_zstd(name, text);
    if (format == "xz") compress_xz(name, text);
    if (format == "xz blocks")
      compress_xz_blocks(name, text, std::max<std::size_t>(text.size() / 7, 1));
    if (format == "bzip2") compress_bzip2(name, text);
    if (format == "lz4") compress_lz4(name, text);
  }

  static std::string name_of(std::string_view format) {
    return std::string(format.substr(0, format.find(' ')));
  }

  /// Returns the pieces in the order of the text; checks that each is where it says.
  static std::vector<seen_piece> pieces_of(const std::string& name, unsigned workers,
                                           text_files::settings chosen) {
    const bool lines = chosen.units == text_units::lines && !chosen.layout;
    text_files files({name}, std::move(chosen));
    std::mutex mutex;
    std::vector<seen_piece> seen;
    visit_all(files.splits(), workers, [&](std::size_t i) {
      files.visit(i, [&](const text_split& split) {
        const std::uint64_t line = lines ? files.line_of(split, split.text.data()) : 0;
        const std::lock_guard lock(mutex);
        seen.push_back({split.from.offset, std::string(split.text), line});
      });
    });
    std::ranges::sort(seen, {}, &seen_piece::offset);
    std::uint64_t bytes = 0;
    for (const seen_piece& piece : seen) bytes += piece.text.size();
    EXPECT_EQ(files.visited_bytes(), bytes);
    return seen;
  }

  static std::string text_of(const std::vector<seen_piece>& pieces, bool lines = false) {
    std::string all;
    std::uint64_t line = 1;
    for (const seen_piece& piece : pieces) {
      EXPECT_EQ(piece.offset, all.size());
      EXPECT_FALSE(piece.text.empty());
      if (lines) {
        EXPECT_EQ(piece.first_line, line);
      }
      line += static_cast<std::uint64_t>(std::ranges::count(piece.text, '\n'));
      if (!all.empty()) {
        EXPECT_TRUE(lines ? all.back() == '\n' : is_space(all.back())) << "a record is cut";
      }
      all += piece.text;
    }
    return all;
  }

  static std::string read(const std::string& name, unsigned workers, std::size_t split,
                          text_units units = text_units::words) {
    return text_of(pieces_of(name, workers, {.split = split, .units = units}),
                   units == text_units::lines);
  }
};

}  // namespace creek::mapreduce

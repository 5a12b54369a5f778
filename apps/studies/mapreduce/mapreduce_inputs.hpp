// SPDX-License-Identifier: Apache-2.0
// Inputs of the MapReduce studies' jobs, the same in every run: texts and arrays that can be cut
// into any number of pieces.
#pragma once

#include <algorithm>
#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/ranks.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <support/zipf_text.hpp>

#include "mapreduce_jobs.hpp"

namespace creek::tool::bench {

/// An array; `parts(n)` returns the input that has n pieces of sizes as equal as possible.
template <class T>
struct array_data {
  std::vector<T> values;

  [[nodiscard]] mapreduce::span_input<T> parts(int count) const {
    return mapreduce::span_input<T>(values, mapreduce::even_split(values.size(), count));
  }
};

/// A text, cut at white space or at line ends. It may be several files one after the other, each of
/// which ends with a line.
class text_data {
 public:
  enum class units : std::uint8_t { words, lines };

  /// Makes files of about `file_bytes` bytes from the text; 0: one file.
  explicit text_data(std::string text, units cut_at = units::words, std::size_t file_bytes = 0)
      : text_(std::make_shared<const std::string>(std::move(text))), cut_at_(cut_at) {
    for (std::size_t end = 0; end < text_->size();) {
      const std::size_t wanted = file_bytes == 0 ? text_->size() : end + file_bytes;
      const std::size_t line = text_->find('\n', wanted);
      end = line == std::string::npos ? text_->size() : line + 1;
      ends_.push_back(end);
    }
  }

  [[nodiscard]] std::string_view text() const { return *text_; }

  /// An input made of pieces of the text; must not outlive the data.
  class pieces {
   public:
    using split_type = mapreduce::text_split;

    pieces(const text_data& from, std::size_t step) : from_(&from), step_(step) {}

    [[nodiscard]] std::size_t splits() const { return (from_->text().size() + step_ - 1) / step_; }
    [[nodiscard]] std::uint64_t bytes() const { return from_->text().size(); }

    /// Calls `f` for each file that the piece has a part of.
    template <class F>
    void visit(std::size_t i, F&& f) const {
      const std::string_view all = from_->text();
      std::string_view piece = from_->cut_at_ == units::words
                                   ? mapreduce::cut(all, i, step_)
                                   : mapreduce::cut(all, i, step_, &mapreduce::is_line_end);
      while (!piece.empty()) {
        const auto at = static_cast<std::size_t>(piece.data() - all.data());
        const auto end = std::ranges::upper_bound(from_->ends_, at);
        const std::size_t begin = end == from_->ends_.begin() ? 0 : *(end - 1);
        const auto file = static_cast<std::uint32_t>(end - from_->ends_.begin());
        const std::size_t length = std::min(piece.size(), *end - at);
        f(mapreduce::text_split{piece.substr(0, length), true, {file, at - begin}});
        piece.remove_prefix(length);
      }
    }

   private:
    const text_data* from_;
    std::size_t step_;
  };

  [[nodiscard]] pieces parts(int count) const {
    return {*this, mapreduce::even_split(text_->size(), count)};
  }

 private:
  std::shared_ptr<const std::string> text_;  // viewed by the records of answers
  units cut_at_;
  std::vector<std::size_t> ends_;  // end of each file, as an offset into the text
};

inline std::vector<mapreduce::pixel> random_pixels(std::size_t count) {
  creek_bench::random_bits random(2);
  std::vector<mapreduce::pixel> pixels(count);
  for (mapreduce::pixel& p : pixels) {
    // Two summands make middle values more frequent, as in a photograph.
    for (std::uint8_t& c : p.colour)
      c = static_cast<std::uint8_t>((random() % 256 + random() % 256) / 2);
  }
  return pixels;
}

inline std::vector<sample> random_samples(std::size_t count) {
  creek_bench::random_bits random(3);
  std::vector<sample> samples(count);
  for (sample& s : samples) {
    s.x = static_cast<std::int16_t>(random() % 1000);
    s.y = static_cast<std::int16_t>(3 * s.x + static_cast<int>(random() % 200) - 100);
  }
  return samples;
}

inline point random_point(creek_bench::random_bits& random) {
  point p;
  for (std::int32_t& c : p.at) c = static_cast<std::int32_t>(random() % 10000);
  return p;
}

inline std::vector<point> random_points(std::size_t count) {
  creek_bench::random_bits random(4);
  std::vector<point> points(count);
  for (point& p : points) p = random_point(random);
  return points;
}

inline k_means random_centres() {
  creek_bench::random_bits random(5);
  k_means job{};
  for (point& p : job.centres) p = random_point(random);
  return job;
}

}  // namespace creek::tool::bench

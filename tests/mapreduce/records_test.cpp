// SPDX-License-Identifier: Apache-2.0
// Binary records and bitmaps from files, against loops over the same bytes in memory.
#include <creek/mapreduce.hpp>

#include <gmock/gmock.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "file_case.hpp"

namespace creek::mapreduce {
namespace {

namespace fs = std::filesystem;

// The library compiles runs of its jobs over its inputs.
using detail::gives_splits_for;
static_assert(gives_splits_for<text_view, word_count> && gives_splits_for<text_files, word_count>);
static_assert(gives_splits_for<text_files, inverted_index>);
static_assert(gives_splits_for<text_files, line_filter>);
static_assert(gives_splits_for<text_files, string_match>);
static_assert(gives_splits_for<bitmap_files, colour_histogram> &&
              gives_splits_for<fixed_records<pixel>, colour_histogram> &&
              gives_splits_for<span_input<pixel>, colour_histogram>);
static_assert(gives_splits_for<fixed_records<byte_point>, line_fit<byte_point>> &&
              gives_splits_for<span_input<byte_point>, line_fit<byte_point>>);
static_assert(gives_splits_for<fixed_records<real_point>, line_fit<real_point>> &&
              gives_splits_for<csv_records<real_point>, line_fit<real_point>>);
static_assert(!gives_splits_for<span_input<int>, word_count>);

std::string random_bytes(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 random(seed);
  std::string bytes(count, '\0');
  for (char& c : bytes) c = static_cast<char>(random() % 256);
  return bytes;
}

class Records : public file_case {};

/// Adds up numbers.
struct total {
  using key_type = int;
  using value_type = std::uint64_t;
  static constexpr std::size_t dense_keys = 2;
  std::size_t elements = 1;
  void fill(std::span<const std::uint32_t> numbers, std::span<std::uint64_t> into) const {
    EXPECT_EQ(numbers.size() % elements, 0u);
    for (const std::uint32_t n : numbers) into[0] += n;
    into[1] += numbers.size();
  }
  static void combine(std::uint64_t& into, std::uint64_t from) { into += from; }
};

TEST_F(Records, AreReadWholeHoweverTheyAreCut) {
  const std::size_t count = 3 * 5000;
  const std::string bytes = random_bytes(1, count * 4);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t n = 0;
    std::memcpy(&n, &bytes[4 * i], 4);
    sum += n;
  }
  const std::vector<std::string> names{write("plain", bytes), compress("packed", bytes),
                                       write("empty", "")};
  for (const std::size_t split : {1, 100, 1000, 59999, 1 << 20}) {
    for (const std::size_t elements : {1u, 3u}) {
      fixed_records<std::uint32_t> from(names, elements, {.split = split});
      const auto made =
          runtime(scheduler_options{.workers = 3}).run([&] { return run(total{elements}, from); });
      EXPECT_EQ(made[0].value, 2 * sum) << split;
      EXPECT_EQ(made[1].value, 2 * count) << split;
    }
  }
}

TEST_F(Records, TruncatedOnesAreNamed) {
  for (const std::size_t split : {1, 1 << 20}) {
    const auto sum = [&](const std::string& name) {
      return error_of([&] {
        fixed_records<std::uint32_t> from({name}, 1, {.split = split});
        (void)run(total{}, from);
      });
    };
    EXPECT_THAT(sum(write("cut", std::string(4001, 'x'))),
                testing::HasSubstr("cut: ends within a record: 4001 bytes, records of 4"));
    fs::remove(path("packed"));
    EXPECT_THAT(sum(compress("packed", std::string(4002, 'x'))),
                testing::HasSubstr("packed: ends within a record: 4002 bytes, records of 4"));
  }
}

struct image {
  std::int32_t width, height;  // negative: from the top
  std::uint32_t header = 40;
  std::uint32_t gap = 0;  // between the header and the pixels
};

void put(std::string& to, std::uint32_t value, int bytes) {
  for (; bytes > 0; --bytes, value >>= 8) to += static_cast<char>(value);
}

/// Makes a bitmap with random pixels, each counted, and random padding.
std::string bitmap(const image& what, std::uint64_t seed, std::array<std::uint64_t, 768>& counts) {
  std::string file = "BM";
  put(file, 0, 8);
  put(file, 14 + what.header + what.gap, 4);
  put(file, what.header, 4);
  put(file, static_cast<std::uint32_t>(what.width), 4);
  put(file, static_cast<std::uint32_t>(what.height), 4);
  put(file, 1, 2);
  put(file, 24, 2);
  file += std::string(what.header - 16 + what.gap, '\0');
  const auto rows = static_cast<std::size_t>(std::abs(what.height));
  const auto used = 3 * static_cast<std::size_t>(what.width), padded = (used + 3) / 4 * 4;
  const std::string pixels = random_bytes(seed, rows * padded);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const std::size_t column = i % padded;
    if (column < used) ++counts[256 * (column % 3) + static_cast<unsigned char>(pixels[i])];
  }
  return file + pixels;
}

std::array<std::uint64_t, 768> histogram(const std::vector<std::string>& names, std::size_t split,
                                         unsigned workers = 2) {
  bitmap_files from(names, {.split = split});
  std::array<std::uint64_t, 768> counts{};
  runtime rt(scheduler_options{.workers = workers});
  for (const auto& [key, count] : rt.run([&] { return run(colour_histogram{}, from); })) {
    counts[key] = count;
  }
  return counts;
}

TEST_F(Records, BitmapsOfAllShapes) {
  std::uint64_t seed = 0;
  for (const std::int32_t width : {1, 2, 3, 4, 5, 8, 61, 300}) {
    for (const std::int32_t height : {1, -1, 7, -50}) {
      for (const std::uint32_t header : {40u, 108u, 124u}) {
        std::array<std::uint64_t, 768> counts{};
        const std::string bytes = bitmap({width, height, header, header / 9}, ++seed, counts);
        const std::string name = write("image.bmp", bytes + (seed % 2 ? "" : "trailer"));
        for (const std::size_t split : {1, 200, 3000, 1 << 20}) {
          EXPECT_EQ(histogram({name}, split, 1 + seed % 3), counts) << width << ' ' << height;
        }
        fs::remove(path("packed"));
        EXPECT_EQ(histogram({compress("packed", bytes)}, 1), counts);
      }
    }
  }
}

TEST_F(Records, SeveralBitmapsAddUp) {
  std::array<std::uint64_t, 768> counts{};
  const std::vector<std::string> names{write("a", bitmap({10, 20}, 1, counts)),
                                       write("b", bitmap({7, -3, 124}, 2, counts)),
                                       write("c", bitmap({501, 90}, 3, counts))};
  EXPECT_EQ(histogram(names, 5000), counts);
}

TEST_F(Records, EveryPartOfABitmapIsAsked) {
  std::array<std::uint64_t, 768> ignored{};
  const std::string good = bitmap({33, 20}, 1, ignored);
  const auto with = [&](std::size_t at, std::uint32_t value, int bytes) {
    std::string field;
    put(field, value, bytes);
    return std::string(good).replace(at, field.size(), field);
  };
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "bad: not a bitmap"},
      {"B", "bad: not a bitmap"},
      {"P6 33 20", "bad: not a bitmap"},
      {good.substr(0, 17), "bad: ends within the bitmap's header"},
      {good.substr(0, 40), "bad: ends within the bitmap's header"},
      {good.substr(0, 54), "bad: 54 bytes, and its header announces 2054"},
      {good.substr(0, good.size() - 1), "bad: 2053 bytes, and its header announces 2054"},
      {with(14, 12, 4), "bad: a header of 12 bytes, not 40, 108 or 124"},
      {with(28, 8, 2), "bad: 8 bits a pixel, not 24"},
      {with(30, 1, 4), "bad: compression 1, not 0"},
      {with(18, 0, 4), "bad: a bitmap of 0 x 20 pixels"},
      {with(18, 0x80000000u, 4), "bad: a bitmap of -2147483648 x 20 pixels"},
      {with(22, 0, 4), "bad: a bitmap of 33 x 0 pixels"},
      {with(22, 0x80000000u, 4), "bad: a bitmap of 33 x -2147483648 pixels"},
      {with(18, 0x7FFFFFFF, 4), "bad: 2054 bytes, and its header announces 128849018934"},
      {with(26, 3, 2), "and 3 planes"},
      {with(10, 53, 4), "bad: pixels at byte 53, in the header"},
      {with(10, 1000, 4), "bad: 2054 bytes, and its header announces 3000"}};
  for (const auto& [bytes, why] : cases) {
    for (const std::size_t split : {1, 1 << 20}) {
      const std::string name = write("bad", bytes);
      EXPECT_THAT(error_of([&] { (void)histogram({name}, split); }), testing::HasSubstr(why));
    }
  }
}

}  // namespace
}  // namespace creek::mapreduce

// SPDX-License-Identifier: Apache-2.0
// Jobs over streams and compressed files that several workers read together.
#include <creek/mapreduce.hpp>
#include <creek/tasking/future.hpp>
#include <creek/tasking/parallel_for.hpp>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#include "oracle.hpp"
#include "streams_case.hpp"

namespace creek::mapreduce {
namespace {

/// The same file as two inputs of one run: each gets all of it.
TEST_F(Streams, OneFileAsTwoInputs) {
  struct left {};
  struct right {};
  const std::string text = oracle::random_text(5, 300000, 300);
  for (std::size_t at = 0; at < text.size(); at += 20000) {
    compress("packed", std::string_view(text).substr(at, 20000));
  }
  for (const unsigned workers : numbers_of_workers) {
    text_files files({path("packed")}, {.split = 1000});
    several_inputs twice(tagged<left>(files), tagged<right>(files));
    std::atomic<std::uint64_t> lefts{0}, rights{0};
    visit_all(twice.splits(), workers, [&](std::size_t i) {
      twice.visit(i, [&]<class Tag>(const tagged_split<Tag, text_split>& split) {
        (std::is_same_v<Tag, left> ? lefts : rights) += split.text.size();
      });
    });
    EXPECT_EQ(lefts, text.size());
    EXPECT_EQ(rights, text.size());
  }
}

/// Jobs that wait within map: their workers may pick up other splits of the file meanwhile.
TEST_F(Streams, MapMayWaitForTasks) {
  const std::string text = oracle::random_text(5, 400000, 300);
  for (const char* const format : formats) {
    for (std::size_t at = 0; at < text.size(); at += 30000) {
      add_member(format, format, std::string_view(text).substr(at, 30000));
    }
    for (const unsigned workers : {1u, 2u, 5u}) {
      text_files files({path(format)}, {.split = 2000});
      std::atomic<std::uint64_t> bytes{0};
      runtime rt(scheduler_options{.workers = workers});
      rt.run([&] {
        parallel_for(std::size_t{0}, files.splits(),
                     [&](std::size_t i) {
                       files.visit(i, [&](const text_split& split) {
                         auto later = creek::async([&] { bytes += split.text.size() / 2; });
                         parallel_for(std::size_t{0}, (split.text.size() + 1) / 2,
                                      [&](std::size_t) { bytes.fetch_add(1); });
                         later.get();
                       });
                     },
                     {.grain = 1});
      });
      EXPECT_EQ(bytes, text.size()) << format;
    }
  }
}

TEST_F(Streams, PipesAreReadByAll) {
  const std::string text = oracle::random_text(5, 3000000, 300);
  compress("packed", text);
  const std::string packed = bytes_of("packed");
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  for (const std::string& content : {text, packed}) {
    for (const unsigned workers : numbers_of_workers) {
      const std::jthread writer([&] { std::ofstream(path("pipe"), std::ios::binary) << content; });
      EXPECT_EQ(read(path("pipe"), workers, 100000), text);
    }
  }
}

TEST_F(Streams, ColumnsHaveTheirHeaderAtOnceForAll) {
  std::string text(3000, '\n');
  text += "name,x,y\n";
  for (int i = 0; i < 20000; ++i) {
    text += "\"row\"," + std::to_string(i) + "," + std::to_string(3 * i) + "\n";
  }
  for (const char* const format : formats) {
    for (std::size_t at = 0; at < text.size(); at += 10000) {
      add_member(format, format, std::string_view(text).substr(at, 10000));
    }
    for (const unsigned workers : {1u, 2u, 5u}) {
      csv_records<real_point> from({path(format)}, {.columns = {"y", "x"}}, {.split = 500});
      runtime rt(scheduler_options{.workers = workers});
      for (int again = 0; again < 2; ++again) {
        const auto sums = rt.run([&] { return run(line_fit<real_point>{}, from); });
        EXPECT_EQ(sums[0].value, 3 * 19999.0 * 20000 / 2) << format;
        EXPECT_EQ(sums[1].value, 19999.0 * 20000 / 2) << format;
      }
    }
  }
}

TEST_F(Streams, FirstMalformedFieldIsNamed) {
  std::string text;
  for (int i = 1; i <= 20000; ++i) text += i % 5003 == 0 ? "bad,bad\n" : std::to_string(i) + ",1\n";
  for (const char* const format : formats) {
    for (std::size_t at = 0; at < text.size(); at += 7000) {
      add_member(format, format, std::string_view(text).substr(at, 7000));
    }
    for (const unsigned workers : {1u, 2u, 7u}) {
      csv_records<real_point> from({path(format)}, {}, {.split = 500});
      runtime rt(scheduler_options{.workers = workers});
      EXPECT_THAT(
          error_of([&] { (void)rt.run([&] { return run(line_fit<real_point>{}, from); }); }),
          testing::HasSubstr(std::string(format) + ":5003: column 1: 'bad'"));
    }
  }
}

TEST_F(Streams, SumsInOrderAreTheSameToTheBit) {
  std::mt19937_64 random(5);
  std::vector<double> numbers(60000);
  for (double& n : numbers) n = static_cast<double>(random()) / static_cast<double>(random() | 1);
  const std::string_view bytes(reinterpret_cast<const char*>(numbers.data()),
                               numbers.size() * sizeof(double));
  for (std::size_t at = 0; at < bytes.size(); at += 30001) {
    compress_zstd("packed", bytes.substr(at, 30001));
  }
  std::vector<std::vector<double>> results;
  for (const unsigned workers : {1u, 2u, 5u, 5u, 5u}) {
    fixed_records<real_point> from({path("packed")}, 1, {.split = 3000});
    runtime rt(scheduler_options{.workers = workers});
    std::vector<double>& sums = results.emplace_back();
    for (const auto& sum : rt.run([&] { return run(line_fit<real_point>{}, from); })) {
      sums.push_back(sum.value);
    }
  }
  for (const auto& sums : results) EXPECT_EQ(sums, results.front());
}

}  // namespace
}  // namespace creek::mapreduce

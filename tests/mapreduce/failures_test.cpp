// SPDX-License-Identifier: Apache-2.0
// Exceptions of a job come out of run() unchanged, and the log says where they were thrown: for
// every strategy, with and without a memory limit, by one or more workers.
#include <creek/mapreduce.hpp>
#include <creek/mapreduce/spill.hpp>

#include <gtest/gtest.h>

#include <creek/tasking/runtime.hpp>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "support/temporary_folder.hpp"

namespace creek::mapreduce {
namespace {

struct refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws for the word "map" in map(), and for the key "reduce" in reduce().
struct picky {
  using key_type = std::string_view;
  using value_type = std::uint64_t;
  static constexpr bool may_group = true;
  template <class Emit>
  static void map(std::string_view text, Emit& emit) {
    for_each_word(text, [&](std::string_view word) {
      if (word == "map") throw refused("no maps");
      emit(word, 1);
    });
  }
  static void combine(std::uint64_t& into, std::uint64_t from) { into += from; }
  static std::uint64_t reduce(std::string_view key, const values<picky>& all) {
    if (key.starts_with("reduce")) throw refused("no reducing");
    std::uint64_t sum = 0;
    for (const std::uint64_t one : all) sum += one;
    return sum;
  }
};

/// The same for numbers, whose pairs are moved.
struct picky_numbers {
  using key_type = int;
  using value_type = int;
  template <class Emit>
  static void map(std::span<const int> all, Emit& emit) {
    for (const int one : all) {
      if (one < 0) throw refused("negative");
      emit(one, 1);
    }
  }
  static int reduce(int key, const values<picky_numbers>&) {
    return key == 13 ? throw refused("unlucky") : key;
  }
};

template <class Run>
std::string place_of(const failure_log& log, Run&& run) {
  try {
    run();
  } catch (const refused&) {
    return log.where();
  }
  return "nothing was thrown";
}

constexpr std::string_view job = "creek::mapreduce::(anonymous namespace)::picky";

TEST(FailureLog, NamesFileAndPieceOfMap) {
  support::temporary_folder folder;
  const std::string a = (folder.path() / "a.txt").string(), b = (folder.path() / "b.txt").string();
  std::ofstream(a) << "these are words";
  std::ofstream(b) << std::string(5000, '.') << ' ' << std::string(3000, 'x') << " map\n";
  for (const unsigned workers : {1u, 2u, 5u}) {
    runtime rt({.workers = workers});
    for (const auto how : {strategy::combine_on_emit, strategy::emit_and_group}) {
      text_files files({a, b}, {.split = 4096});
      failure_log log;
      EXPECT_EQ(
          place_of(
              log,
              [&] { rt.run([&] { (void)run(picky{}, files, {.how = how, .failures = &log}); }); }),
          std::string(job) + "::map, " + b + ", in the piece from byte 5001");
    }
  }
}

TEST(FailureLog, NamesTheKeyOfReduce) {
  const std::string text = "a reduce b " + std::string(300, 'c');
  for (const auto how : {strategy::combine_on_emit, strategy::emit_and_group}) {
    failure_log log;
    EXPECT_EQ(place_of(log,
                       [&] {
                         (void)run(picky{}, std::string_view(text), {.how = how, .failures = &log});
                       }),
              std::string(job) + "::reduce, key \"reduce\"");
  }
  failure_log log;
  EXPECT_EQ(place_of(log,
                     [&] {
                       (void)run(picky{}, std::string_view(text), {.failures = &log},
                                 memory_limit{.bytes = 16 << 20, .directory = "/tmp"});
                     }),
            std::string(job) + "::reduce, key \"reduce\"");
}

TEST(FailureLog, ShortensKeysAndHidesControlCharacters) {
  failure_log log;
  const std::string text = "reduce\x01" + std::string(200, 'y');
  EXPECT_EQ(place_of(log, [&] { (void)run(picky{}, std::string_view(text), {.failures = &log}); }),
            std::string(job) + "::reduce, key \"reduce?" + std::string(53, 'y') + "...\"");
}

TEST(FailureLog, NamesPiecesOfArraysAndKeysThatAreNumbers) {
  std::vector<int> numbers(100, 1);
  failure_log log;
  const auto place = [&] {
    return place_of(log, [&] {
      (void)run(picky_numbers{}, std::span<const int>(numbers), {.split = 10, .failures = &log});
    });
  };
  numbers[75] = -1;
  EXPECT_EQ(place(), std::string(job) + "_numbers::map, in piece 7 of the input");
  numbers[75] = 13;
  EXPECT_EQ(place(), std::string(job) + "_numbers::reduce, key 13");
}

TEST(FailureLog, KnowsNothingOfOtherExceptions) {
  failure_log log;
  EXPECT_EQ(place_of(log, [] { throw refused("elsewhere"); }), "");
  EXPECT_EQ(log.where(), "");
}

}  // namespace
}  // namespace creek::mapreduce

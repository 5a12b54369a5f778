// SPDX-License-Identifier: Apache-2.0
// Caches that another process overwrites or cuts short while a query reads them: the answer is
// right or the query reports it as void. It never reads or writes outside its own memory.
#include <gtest/gtest.h>

#include <atomic>
#include <creek/core/error.hpp>
#include <creek/tasking/runtime.hpp>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "rows.hpp"
#include "support/temporary_folder.hpp"
#include "tpch/query.hpp"

namespace creek::tpch {
namespace {

namespace fs = std::filesystem;

struct cache {
  fs::path name;
  std::string good;
};

std::string content(const fs::path& name) {
  std::string bytes(fs::file_size(name), '\0');
  std::ifstream(name, std::ios::binary).read(bytes.data(), std::ssize(bytes));
  return bytes;
}

/// Returns the caches of small tables.
std::vector<cache> make_caches() {
  const support::temporary_folder folder;
  testing::write_tables(folder.path(), testing::make_rows(21, 60));
  testing::write_other_tables(folder.path());
  runtime rt({.workers = 2});
  rt.run([&] { database(folder.path()).make_caches(); });
  std::vector<cache> made;
  for (const table_schema& schema : tables()) {
    const std::string name = std::string(schema.name) + ".creek";
    const fs::path file = folder.path() / name;
    if (fs::exists(file)) made.push_back({name, content(file)});
  }
  return made;
}

class tpch_changed_cache : public ::testing::TestWithParam<const query*> {
 protected:
  tpch_changed_cache() {
    static const std::vector<cache> made = make_caches();
    caches_ = made;
    for (cache& one : caches_) one.name = folder_.path() / one.name;
  }

  std::string folder() const { return folder_.path().string(); }

  /// Gives a file so old a time that every change shows.
  static void make_old(const fs::path& name) {
    fs::last_write_time(name, fs::file_time_type::clock::now() - std::chrono::hours(1));
  }

  /// Overwrites all caches in place, from the end of their directory or before.
  template <class Byte>
  void overwrite(Byte&& byte) const {
    for (const cache& one : caches_) {
      std::string bytes(one.good.size() - first_array, '\0');
      for (char& c : bytes) c = static_cast<char>(byte());
      std::fstream out(one.name, std::ios::in | std::ios::out | std::ios::binary);
      out.seekp(first_array);
      out << bytes;
    }
  }
  void restore() const {
    for (const cache& one : caches_) {
      std::ofstream(one.name, std::ios::binary) << one.good;
      make_old(one.name);
    }
  }

  struct prepared {
    database from;
    std::unique_ptr<prepared_query> query;
  };
  prepared prepare() const {
    database from(folder());
    const parameter_values usual(GetParam()->parameters, {});
    auto query = GetParam()->prepare(from, usual);
    return {std::move(from), std::move(query)};
  }

  /// Runs the query; the only exception may be creek::error.
  static void run(const prepared_query& query) {
    try {
      static_cast<void>(query.run());
    } catch (const error&) {
    }
  }

  static constexpr std::size_t first_array = 4096;
  std::vector<cache> caches_;
  support::temporary_folder folder_;
};

TEST_P(tpch_changed_cache, overwritten_before_the_query) {
  std::mt19937 random(5);
  runtime rt({.workers = 2});
  rt.run([&] {
    for (const unsigned high : {0u, 0x100u, 0x200u}) {
      restore();
      const prepared ready = prepare();
      EXPECT_FALSE(ready.query->lost());
      overwrite([&] { return high == 0x200 ? random() : high - 1; });
      run(*ready.query);
      EXPECT_TRUE(ready.query->lost());
    }
  });
}

TEST_P(tpch_changed_cache, overwritten_during_the_query) {
  restore();
  runtime rt({.workers = 2});
  rt.run([&] {
    const prepared ready = prepare();
    std::atomic<int> rounds{0};
    {
      std::jthread writer([&](std::stop_token stop) {
        std::mt19937 random(6);
        while (!stop.stop_requested()) {
          overwrite([&] { return random(); });
          rounds.fetch_add(1);
          rounds.notify_one();
        }
      });
      rounds.wait(0);
      for (int i = 0; i < 20; ++i) run(*ready.query);
    }
    EXPECT_TRUE(ready.query->lost());
  });
}

TEST_P(tpch_changed_cache, cut_short) {
  runtime rt({.workers = 2});
  rt.run([&] {
    for (const std::uintmax_t left : {0, 5000, 20000}) {
      restore();
      const prepared ready = prepare();
      for (const cache& one : caches_) fs::resize_file(one.name, std::min(left, one.good.size()));
      run(*ready.query);
      EXPECT_TRUE(ready.query->lost());
    }
  });
}

TEST_P(tpch_changed_cache, replaced_by_another_file) {
  restore();
  const prepared ready = prepare();
  const answer expected = ready.query->run().result;
  for (const cache& one : caches_) {
    const fs::path other = one.name.string() + ".new";
    std::ofstream(other) << "another";
    fs::rename(other, one.name);
  }
  EXPECT_EQ(ready.query->run().result, expected);
  EXPECT_FALSE(ready.query->lost());
}

TEST_P(tpch_changed_cache, written_just_before_is_copied) {
  restore();
  const answer expected = prepare().query->run().result;
  const auto now = fs::file_time_type::clock::now() + std::chrono::hours(1);  // recent for an hour
  for (const cache& one : caches_) fs::last_write_time(one.name, now);
  const prepared ready = prepare();
  overwrite([] { return 0; });
  EXPECT_EQ(ready.query->run().result, expected);
  EXPECT_FALSE(ready.query->lost());
}

INSTANTIATE_TEST_SUITE_P(all, tpch_changed_cache, ::testing::ValuesIn(queries()),
                         [](const auto& which) { return std::string(which.param->name); });

}  // namespace
}  // namespace creek::tpch

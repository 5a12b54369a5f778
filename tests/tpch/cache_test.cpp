// SPDX-License-Identifier: Apache-2.0
// Caches: loaded data are read back unchanged, damaged files are refused, old ones are not used.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <creek/core/error.hpp>
#include <creek/tasking/runtime.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "rows.hpp"
#include "support/temporary_folder.hpp"
#include "tpch/cache/cache_file.hpp"
#include "tpch/database.hpp"
#include "tpch/loading/tbl_file.hpp"

namespace creek::tpch {
namespace {

namespace fs = std::filesystem;

class tpch_cache : public ::testing::Test {
 protected:
  tpch_cache() { testing::write_tables(folder(), data_); }

  std::string folder() const { return folder_.path().string(); }
  std::string cache() const { return folder_ / "lineitem.creek"; }
  static std::string content_of(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void write(const std::string& file, std::string_view text) {
    std::ofstream(file, std::ios::binary) << text;
  }
  /// Returns why the cache is refused, mapped or copied, without the name of the file and without
  /// the advice.
  std::string refusal() const {
    const std::string mapped = refusal(residence::file);
    EXPECT_EQ(refusal(residence::memory), mapped);
    return mapped;
  }
  std::string refusal(residence where) const {
    const table_schema& schema = table_named("lineitem");
    try {
      static_cast<void>(read_cache(cache(), schema, every_column(schema), where));
    } catch (const error& e) {
      std::string what = e.what();
      EXPECT_TRUE(what.starts_with(cache() + ": ")) << what;
      what.erase(0, cache().size() + 2);
      return what.substr(0, what.find(": remove it or make it again"));
    }
    return "none";
  }

  testing::small_database data_ = testing::make_rows(1, 500);
  support::temporary_folder folder_;
};

/// Compares every value of two tables.
void expect_same(const table& got, const table& wanted) {
  ASSERT_EQ(got.rows(), wanted.rows());
  for (const column_schema& facts : wanted.schema().columns) {
    const bool is_text = facts.holds == kind::category || facts.holds == kind::text;
    for (std::size_t row = 0; row < wanted.rows(); ++row) {
      if (is_text) {
        ASSERT_EQ(got[facts.name].text(row), wanted[facts.name].text(row)) << facts.name;
      } else {
        ASSERT_EQ(got[facts.name].values.value(row), wanted[facts.name].values.value(row));
      }
    }
  }
}

TEST_F(tpch_cache, gives_back_every_value) {
  database from(folder());
  from.make_caches();
  EXPECT_EQ(from.sources().size(), 3u);
  for (const std::string_view name : {"lineitem", "orders", "customer"}) {
    const table_schema& schema = table_named(name);
    const std::string stem = folder() + "/" + std::string(name);
    const table text = load_tbl({stem + ".tbl"}, schema, every_column(schema)).content;
    const table mapped = read_cache(stem + ".creek", schema, every_column(schema)).content;
    expect_same(mapped, text);
    EXPECT_FALSE(mapped.lost());
  }
}

TEST_F(tpch_cache, in_memory_outlives_its_file) {
  database(folder()).make_caches();
  const table_schema& schema = table_named("lineitem");
  const table text = load_tbl({folder() + "/lineitem.tbl"}, schema, every_column(schema)).content;
  const table copied = read_cache(cache(), schema, every_column(schema), residence::memory).content;
  write(cache(), "");
  expect_same(copied, text);
  EXPECT_FALSE(copied.lost());
}

TEST_F(tpch_cache, same_bytes_on_any_number_of_workers) {
  const auto make = [&](unsigned workers) {
    runtime rt({.workers = workers});
    rt.run([&] { database(folder()).make_caches(); });
    return content_of(cache());
  };
  EXPECT_EQ(make(1), make(4));
}

TEST_F(tpch_cache, every_flipped_byte_of_the_arrays_and_the_directory_is_found) {
  database(folder()).make_caches();
  const std::string good = content_of(cache());
  int unseen = 0;  // padding and slack, whose bytes mean nothing
  for (std::size_t at = 0; at < good.size(); at += at < 4096 ? 7 : 211) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    write(cache(), bad);
    const std::string why = refusal();
    if (at < 40) {
      EXPECT_NE(why, "none") << at;
    }
    if (why == "none") {
      ++unseen;
      EXPECT_TRUE((at >= 40 && at < 64) || good[at] == 0) << at;
    }
  }
  EXPECT_LT(unseen, 200);
}

TEST_F(tpch_cache, says_what_is_wrong) {
  database(folder()).make_caches();
  const std::string good = content_of(cache());
  const auto with = [&](std::size_t at, char byte) {
    std::string bad = good;
    bad[at] = byte;
    write(cache(), bad);
    return refusal();
  };
  EXPECT_EQ(with(0, 'X'), "not a cache of creek");
  EXPECT_EQ(with(8, 9), "version 9 of the cache, this creek reads 3");
  EXPECT_EQ(with(24, static_cast<char>(good[24] ^ 1)), "the header is damaged");
  EXPECT_EQ(with(70, '\0'), "the directory is damaged");
  const auto tax = good.find("cccccc", 8192);
  ASSERT_NE(tax, std::string::npos);
  EXPECT_EQ(with(tax, 'd'), "column l_comment is damaged");
  for (const std::size_t size : {std::size_t{0}, std::size_t{63}}) {
    write(cache(), good.substr(0, size));
    EXPECT_EQ(refusal(), "too short for a cache of creek");
  }
  for (const std::size_t size : {std::size_t{64}, std::size_t{1000}, good.size() - 1}) {
    write(cache(), good.substr(0, size));
    EXPECT_EQ(refusal(), std::to_string(size) + " bytes long, not " + std::to_string(good.size()));
  }
  fs::copy_file(folder() + "/orders.creek", cache(), fs::copy_options::overwrite_existing);
  EXPECT_EQ(refusal(), "not a cache of the table lineitem");
}

TEST_F(tpch_cache, shares_are_the_table_and_are_checked_by_themselves) {
  const table_schema& schema = table_named("customer");
  std::string text;  // texts of several MiB
  for (int key = 0; key < 40'000; ++key) {
    text += fmt::format("{}|Customer#{}|{}|{}|25-989|711.56|{}|{}|\n", key, 7 * key,
                        std::string(static_cast<std::size_t>(key % 40 + 1), 'a'), key % 25,
                        testing::segments[static_cast<std::size_t>(key % 5)],
                        std::string(static_cast<std::size_t>(key % 113), 'c'));
  }
  write(folder() + "/customer.tbl", text);
  database(folder()).make_caches();
  const std::string file = folder() + "/customer.creek";
  const auto read = [&](residence where, table_share share) {
    return read_cache(file, schema, every_column(schema), where, symbolic_links::refuse, share)
        .content;
  };
  const table whole = read(residence::file, {});
  for (const residence where : {residence::file, residence::memory}) {
    for (const unsigned count : {2u, 7u, 1000u}) {
      std::size_t row = 0;
      for (unsigned index = 0; index < count; ++index) {
        const table share = read(where, {index, count});
        for (std::size_t i = 0; i < share.rows(); ++i, ++row) {
          ASSERT_EQ(share["c_custkey"].values.value(i), whole["c_custkey"].values.value(row));
          ASSERT_EQ(share["c_acctbal"].values.value(i), whole["c_acctbal"].values.value(row));
          for (const char* column : {"c_name", "c_mktsegment", "c_comment"}) {
            ASSERT_EQ(share[column].text(i), whole[column].text(row)) << column;
          }
        }
      }
      ASSERT_EQ(row, whole.rows());
    }
  }
  std::string bad = content_of(file);
  const std::size_t comment = bad.rfind("ccccc");
  ASSERT_NE(comment, std::string::npos);
  bad[comment] = 'd';
  write(file, bad);
  for (const residence where : {residence::file, residence::memory}) {
    EXPECT_NO_THROW(static_cast<void>(read(where, {0, 4})));
    EXPECT_THROW(static_cast<void>(read(where, {3, 4})), error);
  }
}

TEST_F(tpch_cache, is_used_while_its_text_is_the_same) {
  const auto cached = [&] {
    database from(folder());
    static_cast<void>(from.open("lineitem", {"l_tax"}));
    return from.sources().front().cached;
  };
  EXPECT_FALSE(cached());
  database(folder()).make_caches();
  EXPECT_TRUE(cached());
  const std::string text = folder() + "/lineitem.tbl";
  fs::last_write_time(text, fs::last_write_time(text) + std::chrono::seconds(1));
  EXPECT_FALSE(cached());
  fs::remove(text);
  EXPECT_TRUE(cached());
}

TEST_F(tpch_cache, damaged_one_is_refused_even_with_its_text_there) {
  write(cache(), "not a cache, but long enough for a header of sixty-four bytes, is it?");
  database from(folder());
  EXPECT_THROW(static_cast<void>(from.open("lineitem", {"l_tax"})), error);
}

TEST_F(tpch_cache, folders_without_tables) {
  const support::temporary_folder empty;
  const auto message = [](const std::string& name) -> std::string {
    try {
      database from(name);
    } catch (const error& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(message(empty.path()),
            empty.path().string() +
                ": has no .tbl or .parquet files of TPC-H: No such file or directory");
  EXPECT_EQ(message("/nowhere/at/all"), "/nowhere/at/all: No such file or directory");
  const std::string file = folder() + "/orders.tbl";
  EXPECT_EQ(message(file), file + ": Not a directory");
  database some(folder());
  EXPECT_THROW(static_cast<void>(some.open("nation", {"n_name"})), error);
}

}  // namespace
}  // namespace creek::tpch

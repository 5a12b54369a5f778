// SPDX-License-Identifier: Apache-2.0
// Tables in several files: which files they are, that they equal the table from one file, and
// when a cache of them is out of date.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <creek/core/error.hpp>
#include <creek/tasking/runtime.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "rows.hpp"
#include "support/temporary_folder.hpp"
#include "tpch/database.hpp"
#include "tpch/loading/table_files.hpp"

namespace creek::tpch {
namespace {

namespace files = std::filesystem;
using ::testing::ElementsAre;

class tpch_parts : public ::testing::Test {
 protected:
  std::string folder() const { return folder_.path().string(); }
  std::string write(const std::string& name, std::string_view text = "") const {
    files::create_directories(files::path(folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  std::vector<std::string> found(const std::string& table) const {
    std::vector<std::string> names;
    for (const std::string& name : find_table(folder(), table).names) {
      names.push_back(files::relative(name, folder_.path()));
    }
    return names;
  }
  /// Returns the message of the error that `f` throws, without the folder.
  template <class F>
  std::string refusal(F&& f) const {
    std::string what = "no error";
    try {
      f();
    } catch (const error& e) {
      what = e.what();
    }
    for (std::size_t at; (at = what.find(folder() + "/")) != std::string::npos;) {
      what.erase(at, folder().size() + 1);
    }
    return what;
  }
  std::string not_found(const std::string& table) const {
    return refusal([&] { static_cast<void>(find_table(folder(), table)); });
  }
  /// Writes `text` in parts, each a third of the rest, the last one all of it.
  std::vector<std::string> write_parts(const std::string& table, std::string_view text,
                                       std::size_t parts) const {
    std::vector<std::string> names;
    for (std::size_t n = 1; n <= parts; ++n) {
      std::size_t size = n == parts ? text.size() : text.find('\n', text.size() / 3) + 1;
      size = std::min(size, text.size());
      names.push_back(write(table + ".tbl." + std::to_string(n), text.substr(0, size)));
      text.remove_prefix(size);
    }
    return names;
  }

  support::temporary_folder folder_;
};

TEST_F(tpch_parts, are_found_in_the_order_of_their_numbers) {
  EXPECT_THAT(found("orders"), ElementsAre());
  write("orders.tbl");
  for (const int n : {10, 2, 1, 3, 9, 4, 8, 5, 7, 6}) write("lineitem.tbl." + std::to_string(n));
  for (const char* other : {"lineitem.tbl.u1", "lineitem.tbl.1.gz", "lineitem.tbl.", "lineitem.csv",
                            "orders.tbl~", "my_orders.tbl", "lineitem.tbl.-1", "delete.1"}) {
    write(other);
  }
  write("part/part.2.tbl");
  write("part/part.1.tbl");
  write("supplier/supplier.tbl");
  write("nation/nation.tbl.1");
  EXPECT_THAT(found("orders"), ElementsAre("orders.tbl"));
  EXPECT_THAT(found("lineitem"),
              ElementsAre("lineitem.tbl.1", "lineitem.tbl.2", "lineitem.tbl.3", "lineitem.tbl.4",
                          "lineitem.tbl.5", "lineitem.tbl.6", "lineitem.tbl.7", "lineitem.tbl.8",
                          "lineitem.tbl.9", "lineitem.tbl.10"));
  EXPECT_THAT(found("part"), ElementsAre("part/part.1.tbl", "part/part.2.tbl"));
  EXPECT_THAT(found("supplier"), ElementsAre("supplier/supplier.tbl"));
  EXPECT_THAT(found("nation"), ElementsAre("nation/nation.tbl.1"));
  EXPECT_THAT(found("partsupp"), ElementsAre());
  EXPECT_TRUE(has_table(folder(), "part"));
  EXPECT_FALSE(has_table(folder(), "partsupp"));
}

TEST_F(tpch_parts, of_parquet_may_have_names_of_their_own) {
  for (const char* name :
       {"lineitem/data_10.parquet", "lineitem/data_9.parquet", "lineitem/data_09.parquet",
        "lineitem/_metadata.parquet", "lineitem/.data_1.parquet", "lineitem/_SUCCESS",
        "orders.parquet/part-00001-c2.parquet", "orders.parquet/part-00000-c3.parquet",
        "part/part.2.parquet", "part/part.1.parquet", "nation.parquet"}) {
    write(name);
  }
  EXPECT_THAT(found("lineitem"), ElementsAre("lineitem/data_09.parquet", "lineitem/data_9.parquet",
                                             "lineitem/data_10.parquet"));
  EXPECT_THAT(found("orders"), ElementsAre("orders.parquet/part-00000-c3.parquet",
                                           "orders.parquet/part-00001-c2.parquet"));
  EXPECT_THAT(found("part"), ElementsAre("part/part.1.parquet", "part/part.2.parquet"));
  EXPECT_THAT(found("nation"), ElementsAre("nation.parquet"));
  EXPECT_EQ(find_table(folder(), "nation").format, file_format::parquet);
  write("nation/data_0.parquet");
  EXPECT_EQ(not_found("nation"),
            "nation.parquet and nation/data_0.parquet both have the table "
            "nation; keep one and move the other away: File exists");
}

TEST_F(tpch_parts, that_are_missing_or_there_twice_are_named) {
  for (const char* n : {"1", "2", "4"}) write(std::string("lineitem.tbl.") + n);
  EXPECT_EQ(not_found("lineitem"),
            "lineitem.tbl.3: a part that must be there, as lineitem.tbl.4 is: No such file or "
            "directory");
  write("orders/orders.2.tbl");
  EXPECT_EQ(not_found("orders"),
            "orders/orders.1.tbl: a part that must be there, as orders/orders.2.tbl is: No such "
            "file or directory");
  const std::string numbers =
      ": parts have the numbers 1, 2, 3 and so on, each once: Invalid argument";
  write("part.tbl.0");
  write("part.tbl.1");
  EXPECT_EQ(not_found("part"), "part.tbl.0" + numbers);
  write("customer.tbl.1");
  write("customer.tbl.01");
  EXPECT_EQ(not_found("customer"), "customer.tbl.1" + numbers);
}

TEST_F(tpch_parts, and_a_whole_table_are_too_much) {
  const std::string both =
      " both have the table lineitem; keep one and move the other away: File "
      "exists";
  write("lineitem.tbl");
  write("lineitem.tbl.1");
  EXPECT_EQ(not_found("lineitem"), "lineitem.tbl and lineitem.tbl.1" + both);
  files::remove(folder_ / "lineitem.tbl");
  write("lineitem/lineitem.1.tbl");
  EXPECT_EQ(not_found("lineitem"), "lineitem.tbl.1 and lineitem/lineitem.1.tbl" + both);
  EXPECT_TRUE(has_table(folder(), "lineitem"));
  database from(folder());
  EXPECT_EQ(refusal([&] { from.make_caches(); }),
            "lineitem.tbl.1 and lineitem/lineitem.1.tbl" + both);
}

TEST_F(tpch_parts, come_to_what_one_file_comes_to) {
  const std::string text = testing::lineitem_text(testing::make_rows(11, 700));
  const table_schema& schema = table_named("lineitem");
  const std::vector<std::string> whole{write("whole", text)};
  const table one = load_tbl(whole, schema, every_column(schema)).content;
  const std::vector<std::string> parts = write_parts("lineitem", text, 4);
  for (const unsigned workers : {1u, 2u, 5u}) {
    runtime rt({.workers = workers});
    for (const std::size_t piece : {std::size_t{300}, std::size_t{1} << 20}) {
      const loaded_table loaded =
          rt.run([&] { return load_tbl(parts, schema, every_column(schema), piece); });
      ASSERT_EQ(loaded.from.size(), 4u);
      ASSERT_EQ(loaded.from[3].bytes, files::file_size(parts[3]));
      ASSERT_EQ(loaded.content.rows(), one.rows());
      for (std::size_t i = 0; i < schema.columns.size(); ++i) {
        const column &is = *loaded.content.at(i), &was = *one.at(i);
        ASSERT_EQ(is.values.width, was.values.width);
        ASSERT_EQ(is.bytes, was.bytes) << schema.columns[i].name;
        for (std::size_t row = 0; row < was.values.size; ++row) {
          ASSERT_EQ(is.values.value(row), was.values.value(row)) << schema.columns[i].name;
        }
      }
    }
  }
}

TEST_F(tpch_parts, are_read_in_shares_that_come_to_the_table) {
  std::string text = testing::lineitem_text(testing::make_rows(13, 100));
  text.pop_back();  // the last record has no line end
  const table_schema& schema = table_named("lineitem");
  const table whole = load_tbl({write("whole", text)}, schema, every_column(schema)).content;
  const std::size_t cut = text.find('\n', text.size() / 3) + 1;
  const std::vector<std::string> parts{write("lineitem.tbl.1", text.substr(0, cut)),
                                       write("lineitem.tbl.2", ""),
                                       write("lineitem.tbl.3", text.substr(cut))};
  for (const unsigned count : {1u, 2u, 3u, 7u, 2000u}) {
    std::size_t row = 0;
    for (unsigned index = 0; index < count; ++index) {
      const table share =
          load_tbl(parts, schema, every_column(schema), 300, {index, count}).content;
      for (std::size_t i = 0; i < share.rows(); ++i, ++row) {
        ASSERT_EQ(share["l_orderkey"].values.value(i), whole["l_orderkey"].values.value(row));
        ASSERT_EQ(share["l_shipmode"].text(i), whole["l_shipmode"].text(row));
        ASSERT_EQ(share["l_comment"].text(i), whole["l_comment"].text(row));
      }
    }
    ASSERT_EQ(row, whole.rows()) << count << " shares";
  }
}

TEST_F(tpch_parts, name_the_first_fault_by_its_file_and_row) {
  const table_schema& schema = table_named("region");
  const std::vector<std::string> parts{write("region.tbl.1", "0|AFRICA|one|\n1|AMERICA|one|\n"),
                                       write("region.tbl.2", ""),
                                       write("region.tbl.3", "2|ASIA|one|\nx|EUROPE|one|\n"),
                                       write("region.tbl.4", "y|MIDDLE EAST|one|\n")};
  const auto refused = [&](std::size_t piece) {
    runtime rt({.workers = 3});
    return refusal([&] {
      rt.run([&] { static_cast<void>(load_tbl(parts, schema, every_column(schema), piece)); });
    });
  };
  for (const std::size_t piece : {1, 20, 1000}) {
    EXPECT_EQ(refused(piece),
              "region.tbl.3:2: column 1 (r_regionkey): 'x' is not a whole number of "
              "64 bits: not a table as dbgen writes it");
  }
  write("region.tbl.1", "0|AFRICA|on");
  EXPECT_EQ(refused(1000),
            "region.tbl.1:1: column 3 (r_comment): the file ends before the bar "
            "after this field: not a table as dbgen writes it");
}

TEST_F(tpch_parts, may_be_empty_but_not_all) {
  const table_schema& schema = table_named("region");
  const std::vector<std::string> parts{write("region.tbl.1", ""),
                                       write("region.tbl.2", "0|AFRICA|one|\n"),
                                       write("region.tbl.3", "")};
  EXPECT_EQ(load_tbl(parts, schema, every_column(schema)).content.rows(), 1u);
  write("region.tbl.2", "");
  EXPECT_EQ(refusal([&] { static_cast<void>(load_tbl(parts, schema, every_column(schema))); }),
            "region.tbl.1: all files of it are empty: not a table as dbgen writes it");
}

TEST_F(tpch_parts, are_all_watched_by_the_cache) {
  const std::string text = testing::orders_text(testing::make_rows(12, 400));
  const std::vector<std::string> parts = write_parts("orders", text, 3);
  const auto source = [&] {
    database from(folder());
    static_cast<void>(from.open("orders", {"o_orderkey"}));
    return from.sources().front();
  };
  EXPECT_FALSE(source().cached);
  EXPECT_EQ(source().files, 3u);
  EXPECT_EQ(source().text_bytes, text.size());
  const auto make = [&] {
    database(folder()).make_caches();
    EXPECT_TRUE(source().cached);
    EXPECT_EQ(source().file, folder() + "/orders.creek");
  };
  for (const std::string& part : parts) {
    make();
    files::last_write_time(part, files::last_write_time(part) + std::chrono::seconds(1));
    EXPECT_FALSE(source().cached) << part;
  }
  make();
  write("orders.tbl.4", "1000000|1|O|1.00|1995-01-02|5-LOW|Clerk#1|0|more|\n");
  EXPECT_FALSE(source().cached);
  make();
  files::remove(folder_ / "orders.tbl.4");
  EXPECT_FALSE(source().cached);
  make();
  files::remove(parts[1]);
  EXPECT_EQ(refusal([&] { static_cast<void>(source()); }),
            "orders.tbl.2: a part that must be there, as orders.tbl.3 is: No such file or "
            "directory");
  for (const std::string& part : parts) files::remove(part);
  EXPECT_TRUE(source().cached);
}

}  // namespace
}  // namespace creek::tpch

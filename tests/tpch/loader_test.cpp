// SPDX-License-Identifier: Apache-2.0
// Text to columns: every value as in the text, for any number of workers and any partition of the
// file, and every kind of bad text with its message.
#include <gtest/gtest.h>

#include <algorithm>
#include <creek/core/error.hpp>
#include <creek/tasking/runtime.hpp>
#include <fstream>
#include <random>
#include <string>
#include <string_view>

#include "rows.hpp"
#include "support/temporary_folder.hpp"
#include "tpch/loading/tbl_file.hpp"

namespace creek::tpch {
namespace {

class tpch_loader : public ::testing::Test {
 protected:
  std::string write(const std::string& name, std::string_view text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  table load(const std::string& name, std::string_view text, std::size_t piece = 1 << 20) const {
    const table_schema& schema = table_named(name);
    return load_tbl({write(name + ".tbl", text)}, schema, every_column(schema), piece).content;
  }
  /// Returns the message for a file that must be refused, without the folder.
  std::string refusal(const std::string& name, std::string_view text,
                      std::size_t piece = 1 << 20) const {
    try {
      static_cast<void>(load(name, text, piece));
    } catch (const error& e) {
      const std::string what = e.what();
      const std::string folder = folder_.path().string() + "/";
      return what.starts_with(folder) ? what.substr(folder.size()) : what;
    }
    return "no error";
  }

  support::temporary_folder folder_;
};

void expect_lines(const table& loaded, const testing::small_database& data) {
  ASSERT_EQ(loaded.rows(), data.lines.size());
  for (std::size_t i = 0; i < data.lines.size(); ++i) {
    const testing::line_row& row = data.lines[i];
    ASSERT_EQ(loaded["l_orderkey"].values.value(i), row.order) << i;
    ASSERT_EQ(loaded["l_partkey"].values.value(i),
              static_cast<std::int64_t>(testing::part_of(i + 1)));
    ASSERT_EQ(loaded["l_quantity"].values.value(i), row.quantity) << i;
    ASSERT_EQ(loaded["l_extendedprice"].values.value(i), row.price) << i;
    ASSERT_EQ(loaded["l_discount"].values.value(i), row.discount) << i;
    ASSERT_EQ(loaded["l_tax"].values.value(i), row.tax) << i;
    ASSERT_EQ(loaded["l_returnflag"].text(i), std::string_view(&row.flag, 1)) << i;
    ASSERT_EQ(loaded["l_linestatus"].text(i), std::string_view(&row.status, 1)) << i;
    ASSERT_EQ(loaded["l_shipdate"].values.value(i), row.shipped) << i;
    ASSERT_EQ(loaded["l_commitdate"].values.value(i), row.committed) << i;
    ASSERT_EQ(loaded["l_receiptdate"].values.value(i), row.received) << i;
    ASSERT_EQ(loaded["l_shipinstruct"].text(i), testing::instruction_of(i + 1)) << i;
    ASSERT_EQ(loaded["l_shipmode"].text(i), row.mode) << i;
    ASSERT_EQ(loaded["l_comment"].text(i), std::string((i + 1) % 45, 'c')) << i;
  }
}

TEST_F(tpch_loader, every_value_for_any_cut) {
  for (const bool odd : {false, true}) {
    const auto data = testing::make_rows(1, 300, {.wide = odd, .sparse = odd});
    const std::string text = testing::lineitem_text(data);
    for (const std::size_t piece : {1, 130, 1000, 1 << 20}) {
      expect_lines(load("lineitem", text, piece), data);
    }
  }
}

TEST_F(tpch_loader, every_value_on_workers) {
  const auto data = testing::make_rows(2, 2000, {.shuffled = true});
  const std::string text = testing::lineitem_text(data);
  for (const unsigned workers : {1u, 2u, 5u}) {
    runtime rt({.workers = workers});
    rt.run([&] { expect_lines(load("lineitem", text, 5000), data); });
  }
}

TEST_F(tpch_loader, narrow_where_values_are_small) {
  const auto data = testing::make_rows(3, 2000);
  const table loaded = load("lineitem", testing::lineitem_text(data), 4096);
  EXPECT_EQ(loaded["l_quantity"].values.width, 1u);
  EXPECT_EQ(loaded["l_quantity"].values.factor, 100);
  EXPECT_EQ(loaded["l_discount"].values.width, 1u);
  EXPECT_EQ(loaded["l_extendedprice"].values.width, 4u);
  EXPECT_EQ(loaded["l_shipdate"].values.width, 2u);
  EXPECT_EQ(loaded["l_shipmode"].values.width, 1u);
  EXPECT_EQ(loaded["l_shipmode"].words(), 7u);
}

TEST_F(tpch_loader, leaves_out_what_is_not_wanted_but_checks_it) {
  const table_schema& schema = table_named("region");
  const std::vector<bool> wanted{true, false, false};
  const std::string good = write("region.tbl", "0|AFRICA|one|\n1|ASIA|two|\n");
  const table loaded = load_tbl({good}, schema, wanted).content;
  EXPECT_EQ(loaded.rows(), 2u);
  EXPECT_EQ(loaded["r_regionkey"].values.value(1), 1);
  EXPECT_THROW(static_cast<void>(loaded["r_name"]), usage_error);
  const std::string bad = write("region.tbl", "0|AFRICA NOT BY DBGEN'S TWENTY-FIVE|one|\n");
  EXPECT_THROW(static_cast<void>(load_tbl({bad}, schema, wanted)), error);
}

TEST_F(tpch_loader, extreme_numbers) {
  const table loaded = load("partsupp",
                            "9223372036854775807|-9223372036854775807|0|-0.5|x|\n"
                            "12345678|123456789|-1|7.05||\n");
  EXPECT_EQ(loaded["ps_partkey"].values.value(0), 9223372036854775807);
  EXPECT_EQ(loaded["ps_suppkey"].values.value(0), -9223372036854775807);
  EXPECT_EQ(loaded["ps_supplycost"].values.value(0), -50);
  EXPECT_EQ(loaded["ps_partkey"].values.value(1), 12345678);
  EXPECT_EQ(loaded["ps_suppkey"].values.value(1), 123456789);
  EXPECT_EQ(loaded["ps_availqty"].values.value(1), -1);
  EXPECT_EQ(loaded["ps_supplycost"].values.value(1), 705);
  EXPECT_EQ(loaded["ps_comment"].text(1), "");
}

TEST_F(tpch_loader, last_record_without_line_end) {
  EXPECT_EQ(load("region", "0|AFRICA|one|\n1|ASIA|two|").rows(), 2u);
}

TEST_F(tpch_loader, names_what_is_malformed) {
  const auto with = [&](std::string_view record) {
    return refusal("partsupp", "1|2|3|4.00|fine|\n" + std::string(record) + "\n1|2|3|4.00|fine|\n");
  };
  const std::string line = "partsupp.tbl:2: ";
  const std::string end = ": not a table as dbgen writes it";
  const auto column = [&](const char* which, const char* why) { return line + which + why + end; };
  EXPECT_EQ(with("x|2|3|4|c|"),
            column("column 1 (ps_partkey): ", "'x' is not a whole number of 64 bits"));
  EXPECT_EQ(with("|2|3|4|c|"),
            column("column 1 (ps_partkey): ", "'' is not a whole number of 64 bits"));
  EXPECT_EQ(
      with("1|9223372036854775808|3|4|c|"),
      column("column 2 (ps_suppkey): ", "'9223372036854775808' is not a whole number of 64 bits"));
  EXPECT_EQ(with("1|2|3:|4|c|"),
            column("column 3 (ps_availqty): ", "'3:' is not a whole number of 64 bits"));
  for (const std::string bad : {"4.005", "4.", ".5", "1e3", "4.0x", "--4", "4,00", "+4.00", " 4.00",
                                "x.00", "12a45.00", "", "-", "9999999999999999999.00"}) {
    EXPECT_EQ(
        with("1|2|3|" + bad + "|c|"),
        column("column 4 (ps_supplycost): ",
               ("'" + bad + "' is not a decimal number with at most two digits after the point")
                   .c_str()));
  }
  EXPECT_EQ(with("1|2|3|4|" + std::string(200, 'y') + "|"),
            column("column 5 (ps_comment): ",
                   ("'" + std::string(40, 'y') + "...' has 200 bytes, more than 199").c_str()));
  EXPECT_EQ(with("1|2|3|4|c"),
            column("column 5 (ps_comment): ", "the record ends before the bar after this field"));
  EXPECT_EQ(with(""),
            column("column 1 (ps_partkey): ", "the record ends before the bar after this field"));
  EXPECT_EQ(with("1|2|3|4|c|5|"),
            column("column 5 (ps_comment): ", "'5|' follows this last field"));
  EXPECT_EQ(with("1|2|3|4|c|\r"),
            column("column 5 (ps_comment): ", "'\\x0d' follows this last field"));
}

TEST_F(tpch_loader, names_dates_that_are_none) {
  for (const std::string bad : {"1996-02-30", "1996-13-01", "1996-00-10", "1996-1-01", "19960101",
                                "1996/01/01", "1996-01-01 ", "x996-01-01", ""}) {
    EXPECT_EQ(refusal("orders", "1|370|O|172799.49|" + bad + "|5-LOW|Clerk#1|0|c|\n"),
              "orders.tbl:1: column 5 (o_orderdate): '" + bad +
                  "' is not a date YYYY-MM-DD: not a table as dbgen writes it");
  }
}

TEST_F(tpch_loader, names_nul_bytes_and_keeps_other_bytes) {
  EXPECT_EQ(refusal("region", std::string("1|ASIA|x|\n") + std::string("0|AFRICA|o\0e|\n", 14)),
            "region.tbl:2: column 3 (r_comment): 'o\\x00e' has a NUL byte: not a table as dbgen "
            "writes it");
  EXPECT_EQ(load("region", "1|ASIA|\xff\xfe\x80|\n")["r_comment"].text(0), "\xff\xfe\x80");
}

TEST_F(tpch_loader, names_columns_of_one_letter_that_are_empty) {
  const std::string line =
      "1|5|6|1|17|10.00|0.05|0.02|N|O|1995-03-20|1995-03-25|1995-04-01|a|b|c|\n";
  const auto without = [&](const char* letter) {
    std::string bad = line;
    return refusal("lineitem", line + bad.erase(bad.find(letter), 1));
  };
  constexpr const char* why = "'' is empty: not a table as dbgen writes it";
  EXPECT_EQ(without("N|O"), std::string("lineitem.tbl:2: column 9 (l_returnflag): ") + why);
  EXPECT_EQ(without("O|1995"), std::string("lineitem.tbl:2: column 10 (l_linestatus): ") + why);
  EXPECT_EQ(refusal("orders", "1|1||1.00|1995-01-02|1-URGENT|Clerk|0||\n"),
            std::string("orders.tbl:1: column 3 (o_orderstatus): ") + why);
  EXPECT_EQ(load("orders", "1|1|O|1.00|1995-01-02||Clerk|0||\n").rows(), 1u);
}

TEST_F(tpch_loader, names_a_record_cut_short_by_the_end) {
  const std::string whole = "1|2|3|4.00|fine|\n1|2|3|4.00|fine|";
  for (std::size_t size = 18; size < whole.size(); ++size) {
    const std::string what = refusal("partsupp", whole.substr(0, size));
    EXPECT_TRUE(what.starts_with("partsupp.tbl:2: column ")) << what;
    EXPECT_NE(what.find("the file ends before the bar after this field"), std::string::npos)
        << what;
  }
}

TEST_F(tpch_loader, names_the_first_of_several_faults) {
  const auto data = testing::make_rows(4, 3000);
  std::string text = testing::lineitem_text(data);
  const auto lines_before = [&](std::size_t at) {
    return 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  };
  const std::size_t first = text.find("|199", text.size() / 3);
  for (const std::size_t from : {first, text.size() / 2, text.size() - 500}) {
    text.replace(text.find("|199", from), 4, "|19x");
  }
  runtime rt({.workers = 3});
  const std::string what = rt.run([&] { return refusal("lineitem", text, 2000); });
  const auto line = lines_before(first);
  EXPECT_TRUE(what.starts_with("lineitem.tbl:" + std::to_string(line) + ": column ")) << what;
}

TEST_F(tpch_loader, damaged_text_gives_the_same_for_any_cut) {
  const std::string good = testing::lineitem_text(testing::make_rows(5, 20));
  std::mt19937_64 random(9);
  constexpr std::string_view bytes("|\n\0-.09x\xff\r", 11);
  for (int i = 0; i < 300; ++i) {
    std::string text = good;
    for (std::size_t n = random() % 3 + 1; n > 0; --n) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text.resize(at + 1);
          break;
        case 1:
          text.erase(at, random() % 20);
          break;
        case 2:
          text.insert(at, 1, bytes[random() % bytes.size()]);
          break;
        default:
          text[at] = bytes[random() % bytes.size()];
      }
    }
    if (text.empty()) continue;
    const std::string whole = refusal("lineitem", text);
    ASSERT_EQ(refusal("lineitem", text, 200), whole);
    if (whole != "no error") {
      ASSERT_TRUE(whole.starts_with("lineitem.tbl:")) << whole;
      ASSERT_EQ(whole.find('\n'), std::string::npos) << whole;
    }
  }
}

TEST_F(tpch_loader, files_that_are_not_there_or_not_files) {
  const table_schema& schema = table_named("region");
  const auto message = [&](const std::string& name) -> std::string {
    try {
      static_cast<void>(load_tbl({name}, schema, every_column(schema)));
    } catch (const error& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(message("/nowhere/region.tbl"), "/nowhere/region.tbl: No such file or directory");
  EXPECT_EQ(message("/"), "/: Is a directory");
  EXPECT_EQ(refusal("region", ""), "region.tbl: the file is empty: not a table as dbgen writes it");
}

}  // namespace
}  // namespace creek::tpch

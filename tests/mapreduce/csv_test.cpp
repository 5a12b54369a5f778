// SPDX-License-Identifier: Apache-2.0
// Columns of CSV files against a reader that looks at one byte after another.
#include <creek/mapreduce.hpp>

#include <gmock/gmock.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "file_case.hpp"

namespace creek::mapreduce {
namespace {

namespace fs = std::filesystem;
using table = std::vector<std::vector<double>>;

/// Keeps the rows of each piece, to be read in the order of the files.
struct keep_rows {
  using key_type = origin;
  using value_type = table;
  static constexpr bool may_group = true;
  template <class Emit>
  static void map(const csv_rows<double>& rows, Emit& emit) {
    table kept;
    for (std::size_t at = 0; at < rows.values.size(); at += rows.columns) {
      const auto row = rows.values.subspan(at, rows.columns);
      kept.emplace_back(row.begin(), row.end());
    }
    emit(rows.from, std::move(kept));
  }
  static void combine(table& into, table&& from) {
    into.insert(into.end(), from.begin(), from.end());
  }
};

struct reading {
  csv_format format{};
  std::size_t split = std::size_t{1} << 20;
  unsigned workers = 2;
  strategy how = strategy::automatic;
};

table read(const std::vector<std::string>& names, const reading& as = {}) {
  csv_columns<double> from(names, as.format, {.split = as.split});
  runtime rt(scheduler_options{.workers = as.workers});
  table all;
  for (auto& [key, rows] : rt.run([&] { return run(keep_rows{}, from, {.how = as.how}); })) {
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

class Csv : public file_case {
 protected:
  table read_text(std::string_view text, const csv_format& format = {}) const {
    return read({write("text", text)}, {.format = format});
  }
  std::string fault(std::string_view text, const csv_format& format = {}) const {
    return error_of([&] { (void)read_text(text, format); });
  }
};

TEST_F(Csv, NumbersInEveryForm) {
  EXPECT_EQ(read_text("1,+2,-3\n4.5,.5,5.\n1e3,1E-2,-0\n"),
            (table{{1, 2, -3}, {4.5, .5, 5}, {1000, .01, -0.}}));
  EXPECT_EQ(read_text("0.1,179769313486231570000e288,4.9e-324"),
            (table{{0.1, 1.7976931348623157e308, 4.9e-324}}));
}

/// Checks decimal numbers of up to 20 digits, rounded as the C library rounds them.
template <class Number>
void check_rounding(const std::string& name, const std::vector<std::string>& numbers,
                    Number (*expected)(const char*, char**)) {
  csv_columns<Number> from({name});
  std::size_t at = 0;
  from.visit(0, [&](const csv_rows<Number>& rows) {
    for (const Number value : rows.values) {
      ASSERT_EQ(value, expected(numbers[at].c_str(), nullptr)) << numbers[at];
      ++at;
    }
  });
  EXPECT_EQ(at, numbers.size());
}

TEST_F(Csv, NumbersAreRoundedCorrectly) {
  std::mt19937_64 random(3);
  std::vector<std::string> numbers{"16777216", "16777217", "9007199254740993", "0.1", "-.3", "7."};
  for (int i = 0; i < 20000; ++i) {
    std::string digits = std::to_string(random()).substr(0, 1 + random() % 20);
    if (random() % 4 != 0) digits.insert(random() % (digits.size() + 1), ".");
    if (digits == ".") digits = "0";
    numbers.push_back((random() % 2 ? "-" : "") + digits);
  }
  std::string text;
  for (const std::string& number : numbers) text += number + '\n';
  const std::string name = write("numbers", text);
  check_rounding<double>(name, numbers, std::strtod);
  check_rounding<float>(name, numbers, std::strtof);
}

TEST_F(Csv, LineEndsBlanksAndNoLines) {
  EXPECT_EQ(read_text(""), table{});
  EXPECT_EQ(read_text("\n \r\n\t\n"), table{});
  EXPECT_EQ(read_text("1,2\r\n 3 ,\t4 \r\n\r\n5,6"), (table{{1, 2}, {3, 4}, {5, 6}}));
  EXPECT_EQ(read_text("\xEF\xBB\xBF"
                      "1,2\n"),
            (table{{1, 2}}));
  EXPECT_EQ(read_text("7"), (table{{7}}));
}

TEST_F(Csv, HeaderIsFoundChosenAndRefused) {
  const table rows{{1, 2}, {3, 4}};
  EXPECT_EQ(read_text("x,y\n1,2\n3,4\n"), rows);
  EXPECT_EQ(read_text("1,2\n3,4\n"), rows);
  EXPECT_EQ(read_text("1,2\n1,2\n3,4\n", {.header = csv_header::present}), rows);
  EXPECT_EQ(read_text("2,1\n1,2\n3,4\n", {.columns = {"1", "2"}}).size(), 3u);
  EXPECT_EQ(read_text("b,a\n2,1\n4,3\n", {.columns = {"a", "b"}}), rows);
  EXPECT_EQ(read_text("2,1\n2,1\n4,3\n", {.header = csv_header::present, .columns = {"2", "1"}}),
            rows);
  EXPECT_EQ(read_text("\"a, \"\"b\"\"\",c\n1,2\n", {.columns = {"a, \"b\""}}), (table{{1}}));
  EXPECT_THAT(fault("x,y\n1,2\n", {.header = csv_header::absent}),
              testing::HasSubstr("text:1: column 1: 'x' is not a number"));
  EXPECT_THAT(fault("x,2\n1,2\n"), testing::HasSubstr("text:1: column 1: 'x' is not a number"));
}

TEST_F(Csv, SeparatorsAreFoundAndChosen) {
  const table rows{{1, 2}, {3, 4}};
  for (const char* text : {"1;2\n3;4\n", "1\t2\n3\t4", " 1   2\n3 \t 4  \n", "\"1\"  \"2\"\n3 4"}) {
    EXPECT_EQ(read_text(text), rows) << text;
  }
  EXPECT_EQ(read_text("1|2\n3|4\n", {.separator = '|'}), rows);
  EXPECT_EQ(read_text("a;b,1\nc;d,2\n", {.separator = ',', .columns = {"2"}}), (table{{1}, {2}}));
}

TEST_F(Csv, ColumnsThatAreNotAskedForHoldAnything) {
  const std::string text =
      "name,x,y\n\"Smith, \"\"J\"\"\",1,2\n\xff" + std::string(2, '\0') + ",3,4\n,5,6\n";
  EXPECT_EQ(read_text(text, {.columns = {"y", "x"}}), (table{{2, 1}, {4, 3}, {6, 5}}));
}

TEST_F(Csv, FaultsAreNamedByLineAndColumn) {
  EXPECT_THAT(fault("x,y\n1,2\n\n3,abc\n"),
              testing::HasSubstr("text:4: column 2 (y): 'abc' is no"));
  EXPECT_THAT(fault("1,2\n3,\n"), testing::HasSubstr("text:2: column 2: is empty"));
  EXPECT_THAT(fault("1,2\n3\n"), testing::HasSubstr("text:2: 1 field, and the first line has 2"));
  EXPECT_THAT(fault("1\n3,4\n", {.separator = ','}),
              testing::HasSubstr("text:2: 2 fields, and the first line has 1"));
  EXPECT_THAT(fault("1\nnan\n"),
              testing::HasSubstr("text:2: column 1: 'nan' is not a finite number"));
  EXPECT_THAT(fault("1\ninf\n"), testing::HasSubstr("is not a finite number"));
  EXPECT_THAT(fault("1\n1e999\n"), testing::HasSubstr("is out of the range of double"));
  EXPECT_THAT(fault("1\n0x10\n"), testing::HasSubstr("'0x10' is not a number"));
  EXPECT_THAT(fault("1\n+-2\n"), testing::HasSubstr("is not a number"));
  EXPECT_THAT(fault("1\n1 2\n", {.separator = ','}), testing::HasSubstr("'1 2' is not a number"));
  EXPECT_THAT(fault(std::string_view("1\n2\0\n", 5)),
              testing::HasSubstr("'2\\x00' is not a number"));
  EXPECT_THAT(fault("1\n\"2\n3\"\n"),
              testing::HasSubstr("text:2: column 1: a quote that its line"));
  EXPECT_THAT(fault("1\n\"2\"3\n"), testing::HasSubstr("text:2: column 1: more behind the clos"));
  EXPECT_THAT(fault("x,y\n1,2\n", {.columns = {"z"}}),
              testing::HasSubstr("text:1: no column 'z': x, y"));
  EXPECT_THAT(fault("x,y\n1,2\n", {.columns = {"3"}}),
              testing::HasSubstr("text:1: no column '3': there are 2"));
  EXPECT_THAT(fault("x,y\n1,2\n", {.columns = {"x", "1"}}), testing::HasSubstr("asked for twice"));
}

TEST_F(Csv, FormatsThatCannotBe) {
  const std::vector<std::string> names{write("text", "1,2\n")};
  EXPECT_THROW(csv_columns<float>(names, {.columns = {"0"}}), usage_error);
  EXPECT_THROW(csv_columns<float>(names, {.separator = '"'}), usage_error);
  EXPECT_THROW(csv_columns<float>(names, {.header = csv_header::absent, .columns = {"x"}}),
               usage_error);
  EXPECT_THROW(csv_records<real_point>(names, {.columns = {"1"}}), usage_error);
}

TEST_F(Csv, RecordsNeedAsManyColumnsAsTheyHaveNumbers) {
  csv_records<real_point> from({write("text", "1,2,3\n")});
  EXPECT_THAT(error_of([&] { (void)run(line_fit<real_point>{}, from); }),
              testing::HasSubstr("text:1: 3 columns, not 2: say which are meant"));
}

/// A random table in a random format, and the numbers that `strtod` reads from it.
struct dressed_table {
  std::string text;
  table rows;
};

dressed_table random_table(std::uint64_t seed, std::size_t rows) {
  std::mt19937_64 random(seed);
  dressed_table made;
  const std::size_t columns = 1 + random() % 6;
  const std::string separators = random() % 2 ? "," : " ";
  if (random() % 2) {
    for (std::size_t c = 0; c < columns; ++c) made.text += (c ? separators : "") + "name";
    made.text += '\n';
  }
  for (std::size_t r = 0; r < rows; ++r) {
    if (random() % 50 == 0) made.text += random() % 2 ? "\n" : "  \r\n";
    std::vector<double> row;
    for (std::size_t c = 0; c < columns; ++c) {
      std::string number = std::to_string(static_cast<std::int64_t>(random() >> 20) - (1 << 30));
      if (random() % 2) number += "." + std::to_string(random() % 100000);
      if (random() % 4 == 0) number += "e-" + std::to_string(random() % 30);
      row.push_back(std::strtod(number.c_str(), nullptr));
      if (random() % 5 == 0) number = '"' + number + '"';
      made.text += (c ? separators : "") + std::string(random() % 3, ' ') + number;
    }
    made.rows.push_back(row);
    made.text += random() % 2 ? "\r\n" : "\n";
  }
  if (random() % 2 && made.text.ends_with('\n')) made.text.pop_back();
  return made;
}

TEST_F(Csv, RandomTablesHoweverTheyAreRead) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const dressed_table one = random_table(seed, seed * 20);
    const std::string plain = write("plain", one.text);
    fs::remove(path("packed"));
    const std::string packed = compress("packed", one.text);
    ASSERT_EQ(read({packed}), one.rows) << seed;
    for (const std::size_t split : {1, 100, 4096, 1 << 20}) {
      for (const unsigned workers : {1u, 4u}) {
        for (const strategy how : {strategy::combine_on_emit, strategy::emit_and_group}) {
          const reading as{.split = split, .workers = workers, .how = how};
          ASSERT_EQ(read({plain}, as), one.rows) << seed << ' ' << split;
        }
      }
    }
  }
}

TEST_F(Csv, FirstFaultIsNamedHoweverManyWorkers) {
  std::string text;
  for (int i = 1; i <= 20000; ++i) {
    text += i % 5003 == 0 ? "bad,bad\n" : std::to_string(i) + ",1\n";
  }
  const std::string name = write("faults", text);
  for (const unsigned workers : {1u, 2u, 7u}) {
    for (int again = 0; again < 5; ++again) {
      EXPECT_THAT(error_of([&] { (void)read({name}, {.split = 500, .workers = workers}); }),
                  testing::HasSubstr("faults:5003: column 1: 'bad'"));
    }
  }
  EXPECT_THAT(error_of([&] { (void)read({compress("packed", text)}); }),
              testing::HasSubstr("packed:5003: column 1: 'bad'"));
}

TEST_F(Csv, LinesLongerThanEveryPiece) {
  const std::string great(3 << 20, 'w');
  const std::string text = "1," + great + "\n2,x\n" + "3," + great;
  for (const std::size_t split : {1000, 1 << 20}) {
    const reading as{.format = {.columns = {"1"}}, .split = split};
    EXPECT_EQ(read({write("great", text)}, as), (table{{1}, {2}, {3}}));
    fs::remove(path("packed"));
    EXPECT_EQ(read({compress("packed", text)}, as), (table{{1}, {2}, {3}}));
  }
}

TEST_F(Csv, FilesHaveHeadersOfTheirOwn) {
  const std::string a = write("a", "x,y\n1,2\n"), b = write("b", "y;x\n4;3\n");
  EXPECT_EQ(read({a, b}, {.format = {.columns = {"x", "y"}}}), (table{{1, 2}, {3, 4}}));
}

TEST_F(Csv, LineThroughColumns) {
  std::mt19937_64 random(9);
  std::string text = "y,x\n";
  double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto a = static_cast<double>(random() % 1000), b = static_cast<double>(random() % 1000);
    text += std::to_string(static_cast<int>(b)) + "," + std::to_string(static_cast<int>(a)) + "\n";
    x += a, y += b, xx += a * a, yy += b * b, xy += a * b;
  }
  const std::string name = write("points", text);
  for (const unsigned workers : {1u, 3u}) {
    csv_records<real_point> from({name}, {.columns = {"x", "y"}}, {.split = 300});
    const auto sums = runtime(scheduler_options{.workers = workers}).run([&] {
      return run(line_fit<real_point>{}, from);
    });
    const std::vector<double> expected{x, y, xx, yy, xy};
    for (std::size_t k = 0; k < 5; ++k) EXPECT_EQ(sums[k].value, expected[k]) << k;
  }
}

}  // namespace
}  // namespace creek::mapreduce

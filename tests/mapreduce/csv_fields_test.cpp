// SPDX-License-Identifier: Apache-2.0
// Text fields of CSV against a reader that is a table of states, however the text is cut.
#include <creek/mapreduce.hpp>

#include <gmock/gmock.h>

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "file_case.hpp"
#include "support/seed.hpp"

namespace creek::mapreduce {
namespace {

using row = std::vector<std::string>;
using table = std::vector<row>;

struct reading {
  table rows;
  std::string fault;  // "line N: why", or nothing
  friend bool operator==(const reading&, const reading&) = default;
};

std::ostream& operator<<(std::ostream& to, const reading& made) {
  for (const row& fields : made.rows) to << testing::PrintToString(fields) << '\n';
  return to << made.fault;
}

/// Reads a byte at a time.
reading oracle(std::string text) {
  enum { begin_of_field, plain, quoted, after_quote } state = begin_of_field;
  if (text.ends_with('\r')) text.pop_back();  // ends the last line
  reading made;
  row fields;
  std::string field;
  std::size_t line = 1, opened = 0;
  bool anything = false;
  const auto fault = [&](std::size_t at, const char* why) {
    made.rows.clear();
    made.fault =
        "line " + std::to_string(at) + ": field " + std::to_string(fields.size() + 1) + ": " + why;
    return made;
  };
  const auto end_field = [&] {
    fields.push_back(field);
    field.clear();
    state = begin_of_field;
  };
  const auto end_row = [&] {
    if (anything) {
      end_field();
      made.rows.push_back(fields);
    }
    fields.clear();
    field.clear();
    anything = false;
    state = begin_of_field;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (state != quoted && c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') {
      c = text[++i];
    }
    if (state == quoted) {
      if (c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
        field += text[++i];
      } else if (c == '"') {
        state = after_quote;
      } else {
        field += c;
      }
    } else if (c == '\n') {
      end_row();
    } else if (c == ',') {
      anything = true;
      end_field();
    } else if (state == after_quote) {
      return fault(line, "more behind the closing quote");
    } else if (c == '"' && state == plain) {
      return fault(line, "a quote within a field that begins with none");
    } else {
      anything = true;
      if (c == '"') opened = line;
      if (c != '"') field += c;
      state = c == '"' ? quoted : plain;
    }
    if (c == '\n') ++line;
  }
  if (state == quoted) return fault(opened, "a quote that is not closed");
  end_row();
  return made;
}

/// Keeps the rows of each piece, to be read in the order of the files.
struct keep_rows {
  using key_type = origin;
  using value_type = table;
  csv_options as{};
  template <class Emit>
  void map(const text_split& split, Emit& emit) const {
    table kept;
    for_each_csv_record(
        split,
        [&](const csv_record& record) {
          EXPECT_GE(record.text.data(), split.text.data());
          EXPECT_LE(record.text.data() + record.text.size(), split.text.data() + split.text.size());
          EXPECT_TRUE(record.text.empty() || record.text.back() != '\n');
          kept.emplace_back(record.begin(), record.end());
        },
        as);
    emit(split.from, std::move(kept));
  }
  static void combine(table& into, table&& from) {
    into.insert(into.end(), from.begin(), from.end());
  }
};

template <class Input>
reading read(Input& from, unsigned workers, const csv_options& as = {}) {
  reading made;
  runtime rt(scheduler_options{.workers = workers});
  try {
    for (auto& [key, rows] : rt.run([&] { return run(keep_rows{as}, from); })) {
      made.rows.insert(made.rows.end(), rows.begin(), rows.end());
    }
  } catch (const error& e) {
    made.fault = e.what();
    made.fault.resize(made.fault.rfind(": "));  // the text of the code
  }
  return made;
}

reading read_text(std::string_view text, std::size_t split, unsigned workers,
                  const csv_options& as = {}) {
  text_view from(text, split, text_units::csv_records);
  return read(from, workers, as);
}

TEST(CsvFields, AreThoseOfTheStandard) {
  // Rows that Python's module csv reads from the same text, without its empty rows.
  const std::vector<std::pair<std::string, table>> cases{
      {"", {}},
      {"\n\r\n\n", {}},
      {"a", {{"a"}}},
      {"a,b\r\nc,d\r\n", {{"a", "b"}, {"c", "d"}}},
      {"a,\n,b\n,\n", {{"a", ""}, {"", "b"}, {"", ""}}},
      {"\"\"\n", {{""}}},
      {"\"\",\"\"", {{"", ""}}},
      {"\"a,b\",\"c\"\"d\"\n", {{"a,b", "c\"d"}}},
      {"\"\"\"\"\n\"\"\"\"\"\"", {{"\""}, {"\"\""}}},
      {"\"two\nlines\",x\r\n\"and\r\nmore\"\r\n", {{"two\nlines", "x"}, {"and\r\nmore"}}},
      {" a , b\t\n", {{" a ", " b\t"}}},
      {"\xC3\xA4,\xFF\n", {{"\xC3\xA4", "\xFF"}}},
      {std::string("a\0b,\0\n", 6), {{std::string("a\0b", 3), std::string("\0", 1)}}}};
  for (const auto& [text, rows] : cases) {
    EXPECT_EQ(oracle(text), (reading{rows, ""})) << testing::PrintToString(text);
    for (std::size_t split = 1; split < 20; ++split) {
      EXPECT_EQ(read_text(text, split, 1), (reading{rows, ""})) << testing::PrintToString(text);
    }
  }
}

TEST(CsvFields, FaultsNameTheirLine) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"a\nb,c\"d\n", "line 2: field 2: a quote within a field that begins with none"},
      {"\"x\ny\",\"a\"b\n", "line 2: field 2: more behind the closing quote"},
      {"a\n\"b\nc\n", "line 2: field 1: a quote that is not closed"},
      {"a\n \"b\"\n", "line 2: field 1: a quote within a field that begins with none"}};
  for (const auto& [text, why] : cases) {
    EXPECT_EQ(oracle(text), (reading{{}, why}));
    for (std::size_t split = 1; split < 20; ++split) {
      EXPECT_EQ(read_text(text, split, 2).fault, why) << split;
    }
  }
  EXPECT_EQ(read_text("a,b\n\"c\n\",d,e\n", 3, 2, {.fields = 2}).fault,
            "line 2: 3 fields instead of 2");
  EXPECT_EQ(read_text("a,b\nc", 3, 2, {.fields = 2}).fault, "line 2: 1 field instead of 2");
  for (const char wrong : {'"', '\n', '\r'}) {
    EXPECT_THROW(for_each_csv_record({"a"}, [](const csv_record&) {}, {.separator = wrong}),
                 usage_error);
  }
}

/// Returns text of few different bytes, so that every order of them occurs.
std::string random_bytes(std::mt19937_64& random, std::size_t size, std::string_view alphabet) {
  std::string text(size, '\0');
  for (char& c : text) c = alphabet[random() % alphabet.size()];
  return text;
}

TEST(CsvFields, ShortTextOfAnyBytesIsReadAsByTheOracle) {
  const std::uint64_t seed = support::chosen_seed();
  SCOPED_TRACE(testing::Message() << "CREEK_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 1000; ++i) {
    const std::string text = random_bytes(random, random() % 16, "\"\"\n\r,a");
    EXPECT_EQ(read_text(text, 1 + random() % 8, 1), oracle(text)) << testing::PrintToString(text);
  }
}

struct written {
  std::string text;
  table rows;
};

/// Writes random fields; those that need no quotes have them sometimes.
written random_table(std::mt19937_64& random, std::size_t rows) {
  written made;
  for (std::size_t i = 0; i < rows; ++i) {
    row fields(1 + random() % 4);
    for (std::string& field : fields) {
      field =
          random_bytes(random, random() % (random() % 50 == 0 ? 3000 : 9), "\"\n\r,ab \xC3\xA4");
    }
    made.rows.push_back(fields);
    for (std::size_t k = 0; k < fields.size(); ++k) {
      if (k != 0) made.text += ',';
      const bool alone_and_empty = fields.size() == 1 && fields[k].empty();
      if (alone_and_empty || fields[k].find_first_of("\"\n\r,") != std::string::npos ||
          random() % 4 == 0) {
        made.text += '"';
        for (const char c : fields[k]) made.text += c == '"' ? "\"\"" : std::string(1, c);
        made.text += '"';
      } else {
        made.text += fields[k];
      }
    }
    if (i + 1 < rows || random() % 2 == 0) made.text += random() % 2 == 0 ? "\n" : "\r\n";
    while (random() % 8 == 0 && i + 1 < rows) made.text += random() % 2 == 0 ? "\n" : "\r\n";
  }
  return made;
}

TEST(CsvFields, DoNotDependOnCutsAndWorkers) {
  const std::uint64_t seed = support::chosen_seed();
  SCOPED_TRACE(testing::Message() << "CREEK_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 5; ++i) {
    const written made = random_table(random, 150);
    const reading expected{made.rows, ""};
    EXPECT_EQ(oracle(made.text), expected);
    for (const unsigned workers : {1u, 2u, 5u}) {
      for (const std::size_t split : {1u, 2u, 7u, 100u, 1000u, 1u << 20}) {
        ASSERT_EQ(read_text(made.text, split, workers), expected) << split << ' ' << workers;
      }
    }
    // The first of its faults is named, however wrong the cuts behind it are.
    std::string broken = made.text;
    for (int k = 0; k < 3; ++k) broken.insert(random() % broken.size(), 1, '"');
    const reading faulty = oracle(broken);
    for (const unsigned workers : {1u, 5u}) {
      for (const std::size_t split : {1u, 100u, 1000u, 1u << 20}) {
        ASSERT_EQ(read_text(broken, split, workers), faulty) << split << ' ' << workers;
      }
    }
  }
}

class CsvFiles : public file_case {};

TEST_F(CsvFiles, PlainAndPackedOnesGiveTheSame) {
  std::mt19937_64 random(7);
  const written first = random_table(random, 3000), second = random_table(random, 40);
  table rows = first.rows;
  rows.insert(rows.end(), second.rows.begin(), second.rows.end());
  rows.insert(rows.end(), first.rows.begin(), first.rows.end());
  const std::vector<std::string> names{write("a", first.text), write("b", second.text),
                                       compress("c.gz", first.text)};
  for (const std::size_t split : {1u, 100u, 10000u, 1u << 20}) {
    text_files from(names, {.split = split, .units = text_units::csv_records});
    EXPECT_EQ(read(from, 3), (reading{rows, ""})) << split;
  }
}

TEST_F(CsvFiles, HeadersAndMarksAreSkippedOncePerFile) {
  const std::vector<std::string> names{write("a", "\xEF\xBB\xBF\"n\na\"\"me\",x\na,1\nb,2\n"),
                                       compress("b.gz", "name,x\r\nc,3\r\n"), write("c", "name,x"),
                                       write("d", "")};
  for (const std::size_t split : {1u, 5u, 1u << 20}) {
    text_files from(names, {.split = split, .units = text_units::csv_records});
    EXPECT_EQ(read(from, 2, {.header = true, .fields = 2}),
              (reading{{{"a", "1"}, {"b", "2"}, {"c", "3"}}, ""}));
    text_files marked({names[0]}, {.split = split, .units = text_units::csv_records});
    EXPECT_EQ(read(marked, 2).rows[0], (row{"n\na\"me", "x"}));
  }
}

TEST_F(CsvFiles, FaultsNameFileAndLine) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "\"a\nb\",c\n";
  text += "d,e\"f\n";
  for (int i = 0; i < 500; ++i) text += "\"a\nb\",c\"\n";
  const std::vector<std::string> names{write("plain", text), compress("packed", text)};
  for (const std::string& name : names) {
    for (const std::size_t split : {1u, 100u, 10000u, 1u << 20}) {
      text_files from({name}, {.split = split, .units = text_units::csv_records});
      EXPECT_EQ(read(from, 4).fault,
                name + ":1001: field 2: a quote within a field that begins with none");
    }
  }
}

/// A job of a user may report faults of its own.
struct refuse_b {
  using key_type = int;
  using value_type = int;
  template <class Emit>
  static void map(const text_split& split, Emit&) {
    for (std::size_t i = 0; i < split.text.size(); ++i) {
      if (split.text[i] == 'b') throw malformed_text(&split.text[i], "a b");
    }
  }
  static void combine(int&, int) {}
};

TEST_F(CsvFiles, FaultsOfAJobHaveAPlaceToo) {
  for (const std::string& name : {write("plain", "a\na\nab\n"), compress("packed", "a\na\nab\n")}) {
    text_files lines({name}, {.split = 2, .units = text_units::lines});
    EXPECT_THAT(error_of([&] { (void)run(refuse_b{}, lines); }),
                testing::StartsWith(name + ":3: a b: "));
    text_files words({name}, {.split = 2});
    EXPECT_THAT(error_of([&] { (void)run(refuse_b{}, words); }),
                testing::StartsWith(name + ": byte 5: a b: "));
  }
  EXPECT_THAT(error_of([&] { (void)run(refuse_b{}, std::string_view("a\nb")); }),
              testing::StartsWith("line 2: a b: "));
}

}  // namespace
}  // namespace creek::mapreduce

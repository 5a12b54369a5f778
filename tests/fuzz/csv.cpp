// SPDX-License-Identifier: Apache-2.0
// Columns of text files against a reader that applies csv_columns.hpp's rules one byte at a time,
// and takes numbers from strtod. Both must also report the same first fault.
#include <cerrno>
#include <charconv>
#include <cmath>
#include <creek/core/io/data_fault.hpp>
#include <creek/mapreduce.hpp>
#include <cstdlib>

#include "harness.hpp"

namespace creek::fuzz {
namespace {

using mapreduce::csv_format, mapreduce::csv_header;
using rows = std::vector<std::vector<double>>;

/// The first fault: its line, and its column or 0 if the whole line is wrong.
struct fault {
  std::uint64_t line;
  std::size_t column;
};

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

/// Returns the number in a field, if there is one. `fits` is false if a double cannot hold it.
std::optional<double> number_of(std::string_view text, bool& fits) {
  fits = true;
  const std::string field(text);
  std::size_t at = 0, digits = 0;
  const auto skip_digits = [&] {
    const std::size_t before = at;
    while (at < field.size() && field[at] >= '0' && field[at] <= '9') ++at;
    return at - before;
  };
  if (at < field.size() && (field[at] == '+' || field[at] == '-')) ++at;
  digits += skip_digits();
  if (at < field.size() && field[at] == '.') {
    ++at;
    digits += skip_digits();
  }
  if (digits == 0) return {};
  if (at < field.size() && (field[at] == 'e' || field[at] == 'E')) {
    ++at;
    if (at < field.size() && (field[at] == '+' || field[at] == '-')) ++at;
    if (skip_digits() == 0) return {};
  }
  if (at != field.size()) return {};
  errno = 0;
  const double value = std::strtod(field.c_str(), nullptr);
  fits = !std::isinf(value) && !(value == 0 && errno == ERANGE);
  if (!fits) return {};
  return value;
}

/// A file read strictly by the rules.
class naive_reader {
 public:
  naive_reader(std::string_view text, const csv_format& format) : format_(format) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    while (!text.empty() && !fault_) {
      const auto end = std::min(text.find('\n'), text.size());
      std::string_view one = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (one.ends_with('\r')) one.remove_suffix(1);
      ++line_;
      if (std::ranges::all_of(one, is_blank)) continue;
      if (places_.empty() && !begin(one)) continue;
      if (!fault_) read(one);
    }
  }

  rows found;
  [[nodiscard]] const std::optional<fault>& first_fault() const { return fault_; }

 private:
  struct field {
    std::string text;  ///< without surrounding blanks, quotes kept
    bool bad = false;  ///< a quote that is not closed, or is followed by more text
    bool quoted = false;

    [[nodiscard]] std::string_view inner() const {
      return quoted ? std::string_view(text).substr(1, text.size() - 2) : text;
    }
  };

  std::vector<field> fields_of(std::string_view line) const {
    std::vector<field> fields;
    std::size_t at = 0;
    const bool blanks = separator_ == ' ';
    const auto skip = [&] {
      while (at < line.size() && is_blank(line[at]) && (blanks || line[at] != separator_)) ++at;
    };
    const auto ends = [&] {
      return at == line.size() || (blanks ? is_blank(line[at]) : line[at] == separator_);
    };
    for (;;) {
      skip();
      field& one = fields.emplace_back();
      one.quoted = at < line.size() && line[at] == '"';
      const std::size_t first = at;
      if (one.quoted) {
        for (++at; at < line.size() && (line[at] != '"' || line.substr(at, 2) == "\"\""); ++at) {
          at += line[at] == '"' ? 1 : 0;
        }
        one.bad = at >= line.size();
        if (one.bad) return fields;
        ++at;
      } else {
        while (!ends()) ++at;
      }
      std::size_t last = at;
      while (last > first && !one.quoted && is_blank(line[last - 1])) --last;
      one.text = line.substr(first, last - first);
      if (!blanks) skip();
      one.bad = !ends();
      if (one.bad) return fields;
      if (blanks) skip();
      if (at == line.size()) return fields;
      if (!blanks) ++at;
    }
  }

  /// Treats the first line as a header, or as data. Returns false for a header.
  bool begin(std::string_view line) {
    separator_ = format_.separator;
    bool in_quotes = false;
    for (const char c : line) {
      in_quotes ^= c == '"';
      const bool one = c == ',' || c == ';' || c == '\t';
      if (separator_ == 0 && one && !in_quotes) separator_ = c;
    }
    if (separator_ == 0) separator_ = ' ';
    const std::vector<field> fields = fields_of(line);
    if (fields.back().bad) return complain(fields.size());
    places_.assign(fields.size(), -1);
    bool named = false;
    wanted_ = format_.columns.empty() ? fields.size() : format_.columns.size();
    for (std::size_t i = 0; i < wanted_; ++i) {
      std::size_t at = i;
      if (!format_.columns.empty()) {
        const std::string& name = format_.columns[i];
        const auto [end, bad] = std::from_chars(name.data(), name.data() + name.size(), at);
        if (bad == std::errc{}) {
          --at;
        } else {
          named = true;
          for (at = 0; at < fields.size() && unquoted(fields[at]) != name;) ++at;
        }
      }
      if (at >= fields.size() || places_[at] >= 0) return complain(0);
      places_[at] = static_cast<int>(i);
    }
    if (format_.header == csv_header::absent) return true;
    if (format_.header == csv_header::present || named) return false;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      bool fits = false;
      if (places_[i] >= 0 && (number_of(unquoted(fields[i]), fits) || !fits)) return true;
    }
    return false;
  }

  static std::string unquoted(const field& from) {
    std::string text(from.inner());
    for (std::size_t i = 0; (i = text.find("\"\"", i)) != std::string::npos; ++i) text.erase(i, 1);
    return text;
  }

  void read(std::string_view line) {
    const std::vector<field> fields = fields_of(line);
    std::vector<double> row(wanted_);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].bad) return void(complain(i + 1));
      if (i >= places_.size() || places_[i] < 0) continue;
      bool fits = false;
      const auto value = number_of(fields[i].inner(), fits);
      if (!value) return void(complain(i + 1));
      row[static_cast<std::size_t>(places_[i])] = *value;
    }
    if (fields.size() != places_.size()) return void(complain(0));
    found.push_back(std::move(row));
  }

  bool complain(std::size_t column) {
    fault_ = fault{line_, column};
    return false;
  }

  const csv_format& format_;
  std::uint64_t line_ = 0;
  char separator_ = 0;
  std::vector<int> places_;  // position in a row of each field, or -1
  std::size_t wanted_ = 0;
  std::optional<fault> fault_;
};

/// Keeps the rows of each piece.
struct keep_rows {
  using key_type = mapreduce::origin;
  using value_type = rows;
  template <class Emit>
  static void map(const mapreduce::csv_rows<double>& piece, Emit& emit) {
    rows kept;
    for (std::size_t at = 0; at < piece.values.size(); at += piece.columns) {
      const auto row = piece.values.subspan(at, piece.columns);
      kept.emplace_back(row.begin(), row.end());
    }
    emit(piece.from, std::move(kept));
  }
  static void combine(rows& into, rows&& from) {
    into.insert(into.end(), from.begin(), from.end());
  }
};

rows read(const std::string& name, const csv_format& format, std::size_t split, bool several) {
  mapreduce::csv_columns<double> from({name}, format, {.split = split});
  rows all;
  for (auto& [key, some] : workers(several).run([&] { return run(keep_rows{}, from); })) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

csv_format format_from(input& from) {
  static const std::vector<std::string> columns[] = {{},    {"1"},      {"2", "1"},
                                                     {"x"}, {"y", "1"}, {"3"}};
  csv_format format;
  format.separator = "\0,;\t |"[from.below(6)];
  format.columns = columns[from.below(6)];
  constexpr csv_header headers[] = {csv_header::automatic, csv_header::present, csv_header::absent};
  format.header = headers[from.below(3)];
  return format;
}

bool can_be(const csv_format& format) {
  const bool named = !format.columns.empty() && format.columns[0] > "9";
  return format.header != csv_header::absent || !named;
}

}  // namespace
}  // namespace creek::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace creek::fuzz;
  input from(data, size);
  const bool several = from.below(2) != 0;
  const auto format = format_from(from);
  const std::size_t split = from.piece_bytes();
  if (looks_compressed(from.rest()) || !can_be(format)) return -1;
  const memory_file file(from.rest());
  rows found;
  const auto refused =
      refusal_of(file.name(), [&] { found = read(file.name(), format, split, several); });
  const naive_reader expected(from.rest(), format);
  const auto& fault = expected.first_fault();
  expect(refused.has_value() == fault.has_value(), "refused: " + (refused ? refused->why : "not"));
  if (refused) {
    expect(refused->code == creek::data_fault::malformed, refused->why);
    expect(refused->line() == fault->line && refused->column() == fault->column,
           "another place than " + std::to_string(fault->line) + ", column " +
               std::to_string(fault->column) + refused->why);
  } else {
    expect(found == expected.found, "other rows");
  }
  return 0;
}

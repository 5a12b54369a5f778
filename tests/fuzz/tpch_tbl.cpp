// SPDX-License-Identifier: Apache-2.0
// dbgen's text: every field equals that of a reader that takes one field after another, or both
// report the same first fault.
#include <charconv>
#include <chrono>

#include "harness.hpp"
#include "tpch/loading/data_fault.hpp"
#include "tpch/loading/tbl_file.hpp"

namespace creek::fuzz {
namespace {

using tpch::column_schema, tpch::kind, tpch::table_schema;

__extension__ using int128 = __int128;

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Returns a number with up to `scale` digits after the point, in units of the last digit.
std::optional<std::int64_t> number_of(std::string_view text, std::size_t scale) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const auto point = text.find('.');
  std::string digits(text.substr(0, point));
  std::string part;
  if (point != std::string_view::npos) {
    part = text.substr(point + 1);
    if (!is_digits(part) || part.size() > scale) return {};
  }
  if (!is_digits(digits)) return {};
  digits += part + std::string(scale - part.size(), '0');
  int128 value = 0;
  for (const char c : digits) {
    value = value * 10 + (c - '0');
    if (value > (int128{1} << 63)) return {};
  }
  if (negative) value = -value;
  if (value > INT64_MAX) return {};
  return static_cast<std::int64_t>(value);
}

std::optional<std::int64_t> date_of(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return {};
  int parts[3] = {};
  const std::string_view fields[] = {text.substr(0, 4), text.substr(5, 2), text.substr(8, 2)};
  for (int i = 0; i < 3; ++i) {
    if (!is_digits(fields[i])) return {};
    std::from_chars(fields[i].data(), fields[i].data() + fields[i].size(), parts[i]);
  }
  const auto [year, month, day] = parts;
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  const int lengths[] = {31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (month < 1 || month > 12 || day < 1 || day > lengths[month - 1]) return {};
  using namespace std::chrono;
  return sys_days(std::chrono::year(year) / month / day).time_since_epoch().count();
}

/// One column of one row.
struct value {
  std::string_view text;
  std::int64_t number = 0;
};

std::optional<value> value_of(const column_schema& column, std::string_view field) {
  std::optional<std::int64_t> number = 0;
  switch (column.holds) {
    case kind::integer:
      number = number_of(field, 0);
      break;
    case kind::decimal:
      number = number_of(field, 2);
      break;
    case kind::date:
      number = date_of(field);
      break;
    default:
      if (column.holds == kind::category && column.longest == 1 && field.empty()) return {};
      if (field.size() > column.longest || field.find('\0') != field.npos) return {};
  }
  if (!number) return {};
  return value{field, *number};
}

struct naive_table {
  std::vector<std::vector<value>> rows;
  std::uint64_t bad_line = 0;
  std::size_t bad_column = 0;
};

/// Reads one line; returns the column that is at fault, or 0.
std::size_t read_line(const table_schema& schema, std::string_view line, std::vector<value>& row) {
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    const auto bar = line.find('|');
    if (bar == std::string_view::npos) return i + 1;
    const auto read = value_of(schema.columns[i], line.substr(0, bar));
    if (!read) return i + 1;
    row.push_back(*read);
    line.remove_prefix(bar + 1);
  }
  return line.empty() ? 0 : schema.columns.size();
}

naive_table read_naively(const table_schema& schema, std::string_view text) {
  naive_table result;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::size_t bad = read_line(schema, text.substr(0, end), result.rows.emplace_back());
    if (bad != 0) {
      result.bad_line = result.rows.size();
      result.bad_column = bad;
      return result;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

void check_values(const tpch::table& table, const naive_table& expected,
                  const std::vector<bool>& wanted) {
  expect(table.rows() == expected.rows.size(), "other rows");
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    expect(table.has(i) == wanted[i], "other columns");
    if (!wanted[i]) continue;
    const tpch::column& column = *table.at(i);
    const bool is_text =
        column.schema->holds == kind::text || column.schema->holds == kind::category;
    for (std::size_t row = 0; row < table.rows(); ++row) {
      const value& is = expected.rows[row][i];
      expect(is_text ? column.text(row) == is.text : column.values.value(row) == is.number,
             "another value of " + std::string(column.schema->name));
    }
  }
}

}  // namespace
}  // namespace creek::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace creek;
  fuzz::input from(data, size);
  const bool several = from.below(2) != 0;
  const tpch::table_schema& schema = tpch::tables()[from.below(8)];
  const std::size_t mask = from.below_wide(1 << 16);
  std::vector<bool> wanted = tpch::every_column(schema);
  for (std::size_t i = 1; i < wanted.size(); ++i) wanted[i] = (mask >> i & 1) == 0;
  const std::size_t piece = from.piece_bytes();
  const std::string_view text = from.rest();
  const fuzz::memory_file file(text);
  std::optional<tpch::loaded_table> loaded;
  const auto refused = fuzz::refusal_of(file.name(), [&] {
    loaded = fuzz::workers(several).run(
        [&] { return tpch::load_tbl({file.name()}, schema, wanted, piece); });
  });
  const fuzz::naive_table expected = fuzz::read_naively(schema, text);
  const bool bad = text.empty() || expected.bad_line != 0;
  fuzz::expect(refused.has_value() == bad, "refused: " + (refused ? refused->why : "not"));
  if (refused) {
    fuzz::expect(refused->code == tpch::data_fault::malformed, refused->why);
    fuzz::expect(refused->line() == expected.bad_line && refused->column() == expected.bad_column,
                 "another place than " + std::to_string(expected.bad_line) + ", column " +
                     std::to_string(expected.bad_column) + refused->why);
  } else {
    fuzz::check_values(loaded->content, expected, wanted);
  }
  return 0;
}

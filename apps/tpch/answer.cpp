// SPDX-License-Identifier: Apache-2.0
#include "answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace creek::tpch {
namespace {

bool is_number(const cell& value) {
  return !std::holds_alternative<std::string>(value);
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  return right ? fmt::format("{:>{}}", text, width) : fmt::format("{:<{}}", text, width);
}

std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::string to_string(const cell& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* number = std::get_if<decimal>(&value)) return to_string(*number);
  if (std::holds_alternative<null>(value)) return "NULL";
  return std::get<std::string>(value);
}

std::string to_text(const answer& given) {
  std::vector<std::size_t> widths;
  std::vector<bool> right;
  for (std::size_t c = 0; c < given.columns.size(); ++c) {
    std::size_t width = given.columns[c].size();
    for (const auto& row : given.rows) width = std::max(width, to_string(row[c]).size());
    widths.push_back(width);
    right.push_back(!given.rows.empty() && is_number(given.rows.front()[c]));
  }
  std::string text;
  const auto add_line = [&](auto&& cell_text) {
    std::string line;
    for (std::size_t c = 0; c < widths.size(); ++c) {
      line += (c > 0 ? "  " : "") + padded(cell_text(c), widths[c], right[c]);
    }
    text += without_trailing_spaces(line) + '\n';
  };
  add_line([&](std::size_t c) { return given.columns[c]; });
  for (const auto& row : given.rows) {
    add_line([&](std::size_t c) { return to_string(row[c]); });
  }
  return text;
}

json_value to_json(const answer& given) {
  json_value rows = json_value::array();
  for (const auto& row : given.rows) {
    json_value object = json_value::object();
    for (std::size_t c = 0; c < row.size(); ++c) {
      json_value& member = object[given.columns[c]];
      if (const auto* whole = std::get_if<std::int64_t>(&row[c])) {
        member = *whole;
      } else if (!std::holds_alternative<null>(row[c])) {
        member = to_string(row[c]);
      }
    }
    rows.push_back(std::move(object));
  }
  return rows;
}

}  // namespace creek::tpch

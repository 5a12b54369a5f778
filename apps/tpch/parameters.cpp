// SPDX-License-Identifier: Apache-2.0
#include "parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <strings.h>

#include <creek/core/error.hpp>
#include <optional>

#include "tpch/values/date.hpp"
#include "tpch/values/decimal.hpp"

namespace creek::tpch {
namespace {

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

int scale_of(const parameter& what) {
  return what.holds == kind::decimal ? what.scale : 0;
}

std::optional<std::int64_t> parse(const parameter& what, std::string_view text) {
  if (what.holds == kind::date) return parse_date(text);
  return parse_decimal(text, scale_of(what));
}

std::string show(const parameter& what, std::int64_t number) {
  if (what.holds == kind::date) return date_to_string(number);
  return to_string(decimal{number, scale_of(what)});
}

std::string what_is_wanted(const parameter& what) {
  if (what.holds == kind::date) return "a date YYYY-MM-DD";
  if (what.holds != kind::decimal) return "a whole number";
  return what.scale == 2
             ? "a number with at most two digits after the point"
             : fmt::format("a number with at most {} digits after the point", what.scale);
}

}  // namespace

parameter_values::parameter_values(std::span<const parameter> known,
                                   const std::vector<std::string>& given) {
  for (const parameter& what : known) {
    entries_.push_back({.what = what});
    set(entries_.back(), what.usual);
  }
  for (const std::string& assignment : given) {
    const auto equals = assignment.find('=');
    if (equals == std::string::npos) {
      throw usage_error(fmt::format("--param {}: must be NAME=VALUE", assignment));
    }
    entry* found = nullptr;
    for (entry& e : entries_) {
      if (same_name(e.what.name, std::string_view(assignment).substr(0, equals))) found = &e;
    }
    if (found == nullptr) {
      std::vector<std::string_view> names;
      for (const parameter& what : known) names.push_back(what.name);
      throw usage_error(
          fmt::format("--param {}: this query has {}", assignment, fmt::join(names, ", ")));
    }
    if (found->given) throw usage_error(fmt::format("--param {}: given twice", assignment));
    found->given = true;
    set(*found, std::string_view(assignment).substr(equals + 1));
  }
}

void parameter_values::set(entry& to, std::string_view text) {
  to.text = text;
  if (to.what.holds == kind::text) {
    if (text.empty())
      throw usage_error(fmt::format("--param {}=: the value is empty", to.what.name));
    return;
  }
  const auto number = parse(to.what, text);
  if (!number) {
    throw usage_error(
        fmt::format("--param {}={}: must be {}", to.what.name, text, what_is_wanted(to.what)));
  }
  if (*number < to.what.least || *number > to.what.greatest) {
    throw usage_error(fmt::format("--param {}={}: must be {} to {}", to.what.name, text,
                                  show(to.what, to.what.least), show(to.what, to.what.greatest)));
  }
  to.number = *number;
}

const parameter_values::entry& parameter_values::entry_of(std::string_view name) const {
  for (const entry& e : entries_) {
    if (e.what.name == name) return e;
  }
  throw usage_error(fmt::format("{}: not a parameter of this query", name));
}

std::string parameter_values::describe() const {
  std::string all;
  for (const entry& e : entries_) {
    all += fmt::format("{}{}={}", all.empty() ? "" : " ", e.what.name, e.text);
  }
  return all;
}

}  // namespace creek::tpch

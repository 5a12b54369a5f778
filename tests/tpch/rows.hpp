// SPDX-License-Identifier: Apache-2.0
// Small tables made from a seed, as plain records and as the text that dbgen would write for them,
// so that queries can be compared with data that never went through the loader.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tpch/values/date.hpp"

namespace creek::tpch::testing {

/// Amounts in hundredths, dates in days since 1970-01-01.
struct customer_row {
  std::int64_t key;
  std::string segment;
};

struct order_row {
  std::int64_t key, customer;
  std::int32_t date;
  std::string priority;
  std::int64_t ship_priority;
};

struct line_row {
  std::int64_t order, quantity, price, discount, tax;
  char flag, status;
  std::int32_t shipped, committed, received;
  std::string mode;
};

struct small_database {
  std::vector<customer_row> customers;
  std::vector<order_row> orders;
  std::vector<line_row> lines;
};

inline constexpr std::string_view modes[] = {"AIR",     "FOB",  "MAIL", "RAIL",
                                             "REG AIR", "SHIP", "TRUCK"};
inline constexpr std::string_view segments[] = {"AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD",
                                                "MACHINERY"};
inline constexpr std::string_view priorities[] = {"1-URGENT", "2-HIGH", "3-MEDIUM",
                                                  "4-NOT SPECIFIED", "5-LOW"};

/// Number of parts; they have the keys 1 ... parts.
inline constexpr std::size_t parts = 3000;

/// Returns l_partkey of the line that is written as the `number`th, counted from 1.
inline std::size_t part_of(std::size_t number) {
  return (number - 1) % parts + 1;
}

/// Returns how the `number`-th line, counted from 1, is handed over.
inline std::string_view instruction_of(std::size_t number) {
  return number % 2 == 0 ? "DELIVER IN PERSON" : "NONE";
}

inline std::string money(std::int64_t hundredths) {
  const auto size = static_cast<std::uint64_t>(hundredths < 0 ? -hundredths : hundredths);
  return fmt::format("{}{}.{:02}", hundredths < 0 ? "-" : "", size / 100, size % 100);
}

/// Properties of the values of a database.
struct flavour {
  bool wide = false;      ///< values that need more bytes than dbgen's, and negative ones
  bool sparse = false;    ///< keys far from each other
  bool shuffled = false;  ///< records in random order
  bool orphans = false;   ///< lines whose order is missing, orders without a customer
};

small_database make_rows(std::uint64_t seed, std::size_t order_count, const flavour& like = {});

/// Returns the text of a table with all columns of the schema; columns that no query here reads
/// have arbitrary values.
std::string customer_text(const small_database& data);
std::string orders_text(const small_database& data);
std::string lineitem_text(const small_database& data);

/// Return tables that are the same in every database: the parts and suppliers of the lines, in the
/// words that queries use by default, 25 nations and 5 regions.
std::string part_text();
std::string supplier_text();
std::string partsupp_text();
std::string nation_text();
std::string region_text();

/// Writes the customers, orders and lines into a folder.
void write_tables(const std::string& folder, const small_database& data);

/// Writes the tables that are the same in every database.
void write_other_tables(const std::string& folder);

}  // namespace creek::tpch::testing

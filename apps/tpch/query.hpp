// SPDX-License-Identifier: Apache-2.0
// The queries, each as in the specification: [TPC-H 3.0.1], clause 2.4.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "answer.hpp"
#include "database.hpp"
#include "parameters.hpp"

namespace creek::tpch {

class query_ranks;

/// Result and cost of one run of a query.
struct query_run {
  answer result{};
  std::uint64_t rows = 0;   ///< rows of the tables that were scanned
  std::uint64_t bytes = 0;  ///< bytes of columns scanned, and of the values taken from the others
  std::vector<std::string> steps{};  ///< steps that were taken, in words
};

/// A query whose tables are open. run() may be called repeatedly; it is parallel on the runtime
/// that it runs in and sequential outside one.
class prepared_query {
 public:
  virtual ~prepared_query() = default;
  [[nodiscard]] virtual query_run run() const = 0;
  /// Answers together with the other ranks, each of which has a query on its share of the tables.
  /// The result is on rank 0; rows and bytes are those of this rank, steps are those of rank 0.
  /// Called outside tasks. Throws usage_error unless query::on_ranks.
  [[nodiscard]] virtual query_run run_on(query_ranks& ranks) const;
  /// Returns true if a file of the tables was written to or cut short since: answers are then void.
  [[nodiscard]] virtual bool lost() const noexcept = 0;
};

/// Base of the queries: opens their tables and keeps them.
class query_on_tables : public prepared_query {
 public:
  [[nodiscard]] bool lost() const noexcept final {
    return std::ranges::any_of(tables_, [](const table& each) { return each.lost(); });
  }

 protected:
  /// Opens the named columns of a table, as database::open. It lives as long as the query.
  [[nodiscard]] const table& open(database& from, std::string_view name,
                                  std::initializer_list<std::string_view> columns) {
    return tables_.emplace_back(from.open(name, columns));
  }
  /// Returns the rows of all tables together.
  [[nodiscard]] std::uint64_t rows_of_tables() const noexcept {
    std::uint64_t rows = 0;
    for (const table& each : tables_) rows += each.rows();
    return rows;
  }

 private:
  std::deque<table> tables_;
};

struct query {
  std::string_view name;  ///< for example "q6"
  std::string_view about;
  std::span<const parameter> parameters;
  /// Opens the tables. Throws creek::error as database::open.
  std::unique_ptr<prepared_query> (*prepare)(database&, const parameter_values&);
  bool on_ranks = false;  ///< the prepared query has run_on()
};

/// Makes the query that Query answers; a Query is made from the database and the parameters.
template <std::derived_from<prepared_query> Query>
constexpr query make_query(std::string_view name, std::string_view about,
                           std::span<const parameter> parameters) {
  constexpr bool on_ranks =
      !std::same_as<decltype(&Query::run_on), decltype(&prepared_query::run_on)>;
  return {name, about, parameters,
          [](database& from, const parameter_values& given) -> std::unique_ptr<prepared_query> {
            return std::make_unique<Query>(from, given);
          },
          on_ranks};
}

extern const query q1;
extern const query q2;
extern const query q3;
extern const query q4;
extern const query q5;
extern const query q6;
extern const query q7;
extern const query q8;
extern const query q9;
extern const query q10;
extern const query q11;
extern const query q12;
extern const query q13;
extern const query q14;
extern const query q15;
extern const query q16;
extern const query q17;
extern const query q18;
extern const query q19;
extern const query q20;
extern const query q21;
extern const query q22;

/// Returns all queries, in the order of their numbers.
[[nodiscard]] std::span<const query* const> queries() noexcept;

}  // namespace creek::tpch

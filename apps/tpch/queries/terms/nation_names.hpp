// SPDX-License-Identifier: Apache-2.0
// The nation of a supplier or a customer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "tpch/columns/packed.hpp"
#include "tpch/columns/table.hpp"
#include "tpch/operators/keyed_rows.hpp"

namespace creek::tpch {

/// Maps the keys of nations, of the world or of one region, to codes of their names. Any thread;
/// the tables must outlive the object.
class nation_names {
 public:
  /// Code of a key that no nation, or no nation of the region, has.
  static constexpr std::size_t none = ~std::size_t{0};

  /// Takes all nations, with n_nationkey and n_name. Both throw creek::error for a key of two rows.
  explicit nation_names(const table& nation);
  /// Takes the nations of the region of this name; `nation` needs n_regionkey too, `region`
  /// r_regionkey and r_name.
  nation_names(const table& nation, const table& region, std::string_view name);

  [[nodiscard]] std::size_t code_of(std::int64_t key) const noexcept {
    const std::size_t row = rows_.find(key);
    return row == keyed_rows::absent ? none : static_cast<std::size_t>(names_.values.code(row));
  }
  [[nodiscard]] const keyed_rows& rows() const noexcept { return rows_; }
  /// Returns the number of codes; all codes are below it.
  [[nodiscard]] std::size_t size() const noexcept { return names_.words(); }
  [[nodiscard]] std::string_view name(std::size_t code) const noexcept { return names_.word(code); }
  /// Returns the code of a name, or none if no nation at all has it.
  [[nodiscard]] std::size_t code_named(std::string_view name) const noexcept {
    return static_cast<std::size_t>(names_.find(name).value_or(none));
  }

 private:
  keyed_rows rows_;
  const column& names_;
};

/// Maps the keys of suppliers or of customers to the codes of their nations' names. Any thread.
class nation_by_key {
 public:
  /// `nation_keys` is the column of the same table that holds the nation.
  nation_by_key(keyed_rows rows, const packed& nation_keys, const nation_names& names)
      : rows_(std::move(rows)), nation_keys_(nation_keys), names_(names) {}

  /// Returns the code, or nation_names::none if there is no such row or no such nation.
  [[nodiscard]] std::size_t operator()(std::int64_t key) const noexcept {
    const std::size_t row = rows_.find(key);
    return row == keyed_rows::absent ? nation_names::none : names_.code_of(nation_keys_.value(row));
  }
  [[nodiscard]] const keyed_rows& rows() const noexcept { return rows_; }

 private:
  keyed_rows rows_;
  const packed& nation_keys_;
  const nation_names& names_;
};

}  // namespace creek::tpch

// SPDX-License-Identifier: Apache-2.0
#include "schema.hpp"

#include <fmt/format.h>

#include <array>
#include <creek/core/error.hpp>

namespace creek::tpch {
namespace schemas {
namespace {

using enum kind;  // its names are also those of types outside

constexpr std::array part{
    column_schema{"p_partkey"},
    column_schema{"p_name", text, 55},
    column_schema{"p_mfgr", category, 25},
    column_schema{"p_brand", category, 10},
    column_schema{"p_type", category, 25},
    column_schema{"p_size"},
    column_schema{"p_container", category, 10},
    column_schema{"p_retailprice", decimal},
    column_schema{"p_comment", text, 23},
};

constexpr std::array supplier{
    column_schema{"s_suppkey"},
    column_schema{"s_name", text, 25},
    column_schema{"s_address", text, 40},
    column_schema{"s_nationkey"},
    column_schema{"s_phone", text, 15},
    column_schema{"s_acctbal", decimal},
    column_schema{"s_comment", text, 101},
};

constexpr std::array partsupp{
    column_schema{"ps_partkey"},
    column_schema{"ps_suppkey"},
    column_schema{"ps_availqty"},
    column_schema{"ps_supplycost", decimal},
    column_schema{"ps_comment", text, 199},
};

constexpr std::array customer{
    column_schema{"c_custkey"},
    column_schema{"c_name", text, 25},
    column_schema{"c_address", text, 40},
    column_schema{"c_nationkey"},
    column_schema{"c_phone", text, 15},
    column_schema{"c_acctbal", decimal},
    column_schema{"c_mktsegment", category, 10},
    column_schema{"c_comment", text, 117},
};

constexpr std::array orders{
    column_schema{"o_orderkey"},
    column_schema{"o_custkey"},
    column_schema{"o_orderstatus", category, 1, 1},
    column_schema{"o_totalprice", decimal},
    column_schema{"o_orderdate", date},
    column_schema{"o_orderpriority", category, 15},
    column_schema{"o_clerk", category, 15},
    column_schema{"o_shippriority"},
    column_schema{"o_comment", text, 79},
};

constexpr std::array lineitem{
    column_schema{"l_orderkey"},
    column_schema{"l_partkey"},
    column_schema{"l_suppkey"},
    column_schema{"l_linenumber"},
    column_schema{"l_quantity", decimal},
    column_schema{"l_extendedprice", decimal},
    column_schema{"l_discount", decimal},
    column_schema{"l_tax", decimal},
    column_schema{"l_returnflag", category, 1, 1},
    column_schema{"l_linestatus", category, 1, 1},
    column_schema{"l_shipdate", date},
    column_schema{"l_commitdate", date},
    column_schema{"l_receiptdate", date},
    column_schema{"l_shipinstruct", category, 25},
    column_schema{"l_shipmode", category, 10},
    column_schema{"l_comment", text, 44},
};

constexpr std::array nation{
    column_schema{"n_nationkey"},
    column_schema{"n_name", category, 25},
    column_schema{"n_regionkey"},
    column_schema{"n_comment", text, 152},
};

constexpr std::array region{
    column_schema{"r_regionkey"},
    column_schema{"r_name", category, 25},
    column_schema{"r_comment", text, 152},
};

constexpr std::array all{
    table_schema{"part", part},         table_schema{"supplier", supplier},
    table_schema{"partsupp", partsupp}, table_schema{"customer", customer},
    table_schema{"orders", orders},     table_schema{"lineitem", lineitem},
    table_schema{"nation", nation},     table_schema{"region", region},
};

}  // namespace
}  // namespace schemas

std::size_t table_schema::at(std::string_view column) const {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == column) return i;
  }
  throw usage_error(fmt::format("{}: not a column of the table {}", column, name));
}

std::span<const table_schema> tables() noexcept {
  return schemas::all;
}

const table_schema& table_named(std::string_view name) {
  for (const table_schema& table : schemas::all) {
    if (table.name == name) return table;
  }
  throw usage_error(fmt::format("{}: not a table of TPC-H", name));
}

}  // namespace creek::tpch

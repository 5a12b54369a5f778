// SPDX-License-Identifier: Apache-2.0
#include "data_fault.hpp"

#include <creek/core/error.hpp>
#include <creek/core/io/data_fault.hpp>

namespace creek::tpch {
std::error_code make_error_code(data_fault fault) noexcept {
  static const fault_category category(
      "creek tpch data",
      {"not a table as dbgen writes it", "remove it or make it again with `creek tpch load`",
       "not a table of TPC-H"});
  return {static_cast<int>(fault), category};
}

void fail(data_fault fault, const std::string& what) {
  throw error(make_error_code(fault), what);
}

}  // namespace creek::tpch

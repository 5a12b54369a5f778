// SPDX-License-Identifier: Apache-2.0
#include "data_fault.hpp"

#include <creek/core/error.hpp>

namespace creek::tpch {
namespace {

class data_fault_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "creek tpch data"; }
  std::string message(int fault) const override {
    switch (static_cast<data_fault>(fault)) {
      case data_fault::malformed:
        return "not a table as dbgen writes it";
      case data_fault::foreign:
        return "not a table of TPC-H";
      case data_fault::corrupt:
        return "remove it or make it again with `creek tpch load`";
    }
    return "unknown fault";
  }
};

}  // namespace

std::error_code make_error_code(data_fault fault) noexcept {
  static const data_fault_category category;
  return {static_cast<int>(fault), category};
}

void fail(data_fault fault, const std::string& what) {
  throw error(make_error_code(fault), what);
}

}  // namespace creek::tpch

// SPDX-License-Identifier: Apache-2.0
// Shared parts of all random calls: one call is drawn, made, and described as it is drawn.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <string>
#include <utility>

#include "soak_case.hpp"
#include "soak_judgement.hpp"
#include "soak_reference.hpp"

namespace creek::linalg::testing {

/// Base of a class Case of calls on matrices of T; each returns the residual of its answer.
template <class Case, scalar T>
class soak_call {
 protected:
  struct entry {
    const char* name;
    double (Case::*call)();
  };

  explicit soak_call(dice& d) : d_(d) {}

  /// Draws, makes and judges one of `all`.
  template <std::size_t N>
  finding draw_from(const entry (&all)[N]) {
    const entry& chosen = all[d_.below(std::size(all))];
    const double residual = (static_cast<Case*>(this)->*chosen.call)();
    const std::string routine = fmt::format("{} {}", chosen.name, letter<T>);
    return {routine, routine + " " + what_, std::isnan(residual) ? wrong : residual};
  }

  template <class... Values>
  void say(fmt::format_string<Values...> format, Values&&... values) {
    what_ += fmt::format(format, std::forward<Values>(values)...);
  }

  dice& d_;

 private:
  std::string what_;
};

}  // namespace creek::linalg::testing

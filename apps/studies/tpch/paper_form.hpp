// SPDX-License-Identifier: Apache-2.0
// The forms of TPC-H queries in [DSS 2011] (apps/tpch/paper), run on host threads or on a simulated
// chip.
#pragma once

#include <array>
#include <creek/core/units.hpp>
#include <creek/scc/spmd.hpp>
#include <string_view>
#include <variant>

#include "tpch/paper/q12.hpp"
#include "tpch/paper/q3.hpp"
#include "tpch/paper/q6.hpp"

namespace creek::tool {

/// The queries that have a published form.
inline constexpr std::array paper_queries{&tpch::q3, &tpch::q6, &tpch::q12};

[[nodiscard]] bool has_paper_form(const tpch::query& which) noexcept;

/// Times of one run, in seconds of the host's clock or of the chip's, from the first rank's start
/// to the last rank's end: every rank reads its part of the columns, and then all compute.
struct paper_run {
  tpch::answer result;
  double reading = 0;
  double computing = 0;
  units::joules energy{};  ///< energy of the chip for both parts; zero on the host
};

/// A form whose tables are open; it can run repeatedly. Used by one thread.
class paper_form {
 public:
  /// Throws creek::error as database::open, usage_error for a query that has no such form.
  paper_form(const tpch::query& which, tpch::database& from, const tpch::parameter_values& given);

  /// Returns the number of rows of its tables.
  [[nodiscard]] std::uint64_t rows() const;
  /// Runs on `ranks` host threads, which may be more than the processors.
  [[nodiscard]] paper_run on_host(int ranks) const;
  /// Runs on the first `cores` cores of a fresh chip.
  [[nodiscard]] paper_run on_chip(int cores, const scc_backend::machine_options& on) const;

 private:
  using any_form = std::variant<tpch::paper::q3_form, tpch::paper::q6_form, tpch::paper::q12_form>;
  static any_form open(const tpch::query& which, tpch::database& from,
                       const tpch::parameter_values& given);
  void check_not_lost() const;

  any_form form_;
};

}  // namespace creek::tool

// SPDX-License-Identifier: Apache-2.0
// Energy and processor time of all ranks from the figures of each.
#pragma once

#include <string>
#include <vector>

#include <creek/power/meter.hpp>

namespace creek::tool::dense {

/// The figures of a rank for all runs. Ranks send them each other.
struct rank_figures {
  std::string host;
  unsigned workers = 0;
  double cpu_seconds = 0;    ///< of all threads of the rank
  bool reads = false;        ///< the rank has a figure of energy, or a reason why it has none
  unsigned char origin = 0;  ///< an energy_origin
  double joules = power::no_joules.value;
  std::string source, reason;
  std::string clocks;  ///< why the policy's clocks are not set; empty if they are, or it has none
  std::string lines;   ///< warnings for standard error

  [[nodiscard]] energy_origin where_from() const noexcept {
    return static_cast<energy_origin>(origin);
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(host, workers, cpu_seconds, reads, origin, joules, source, reason, clocks, lines);
  }
};

/// Adds the figures of a further run to those of a rank.
void add_reading(rank_figures& to, const power::meter_reading& run);

/// The sum of all figures. Counters are those of a machine with all its processes, and are read by
/// one of its ranks; a model's figure is that of one rank.
struct total_energy {
  power::energy_figure figure;  ///< unavailable if one part is, with the rank and its reason
  int parts = 0;                ///< ranks that have a figure, or machines if it is measured
  double cpu_seconds = 0;       ///< of all ranks
};
[[nodiscard]] total_energy total_of(const std::vector<rank_figures>& ranks);

/// Returns the total as a line of text.
[[nodiscard]] std::string to_text(const total_energy& total);

}  // namespace creek::tool::dense

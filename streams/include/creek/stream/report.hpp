// SPDX-License-Identifier: Apache-2.0
// Figures of a network that has run: who was active, who waited for whom, what would help.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <creek/core/language.hpp>

namespace creek::stream {

/// Times of one process, in seconds; virtual ones on a backend with virtual time.
struct process_figures {
  std::string name;
  double active_s = 0;            ///< on a worker: computing, or held up by the system
  double tasks_s = 0;             ///< of the tasks of a parallel stage, which count for it
  double waited_items_s = 0;      ///< at empty channels
  double waited_room_s = 0;       ///< at full channels
  double waited_elsewhere_s = 0;  ///< for files, tasks, and what else wait_elsewhere() waits for
  double waited_worker_s = 0;     ///< ready to go on behind a wait at a channel, for a worker
  double joules = 0;              ///< by share_energy()
};

struct channel_figures {
  std::string item_type;
  std::size_t writer = 0, reader = 0;  ///< the processes, by their numbers in the report
  std::size_t capacity = 0;            ///< in items, at the end
  std::uint64_t items = 0;             ///< that were written
  std::uint64_t reader_waits = 0, writer_waits = 0;
  double reader_waited_s = 0, writer_waited_s = 0;
};

struct network_report {
  double elapsed_s = 0;
  unsigned workers = 0;
  std::vector<process_figures> processes;  ///< in the order in which they were added
  std::vector<channel_figures> channels;   ///< in the order in which they were made
  double joules = 0;                       ///< of the run, by share_energy()
};

/// Divides the energy of a run among its processes, which were measured: a process gets `watts` for
/// the time in which it and its tasks were active. The rest belongs to none of them: idle workers,
/// and what all share.
void share_energy(network_report& report, double joules, double watts);
/// Returns what limits the speed of the network, and what would help, in one line.
[[nodiscard]] std::string bottleneck(const network_report& report);
/// Returns a table of processes, one of channels, and the bottleneck.
[[nodiscard]] std::string to_string(const network_report& report);
/// Returns the network in the language of Graphviz: processes with their shares of activity,
/// channels with items, items a second, capacity.
[[nodiscard]] std::string to_dot(const network_report& report);

}  // namespace creek::stream

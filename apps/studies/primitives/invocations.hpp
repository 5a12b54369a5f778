// SPDX-License-Identifier: Apache-2.0
// Simulated programs that send each other active messages, or call objects on other cores, and the
// times they take. All of them check what arrives. For `creek bench scc-invoke`.
#pragma once

#include <optional>
#include <vector>

#include <creek/scc/spmd.hpp>
#include <creek/tasking/options.hpp>
#include <creek/tasking/remote_group.hpp>

namespace creek::tool {

/// The chip, how many of its cores take part, and by which protocol they send.
struct invocation_setup {
  scc_backend::machine_options machine;
  int cores = 0;
  message_protocol protocol = message_protocol::synchronized_ring;
};

/// Bytes of a message that invokes an empty method, and of its answer: each has a head of 24 bytes,
/// and the invocation also has the pointer to the method.
inline constexpr std::size_t invocation_bytes = 40;
inline constexpr std::size_t answer_bytes = 24;

struct message_lengths {
  std::size_t there = invocation_bytes;
  std::size_t back = answer_bytes;
};

/// Mean costs of messages between core 0 and another core by the protocol alone.
struct bare_costs {
  double round_trip_s = 0;
  double one_way_s = 0;  ///< part of the round trip until the first message's handler begins
  double send_s = 0;     ///< part of the round trip until the first message is sent
  double poll_s = 0;     ///< cost of a poll that finds nothing
};
bare_costs measure_bare(const invocation_setup& on, core_id far, message_lengths lengths = {});

/// Returns the seconds of an empty synchronous invocation, called on core 0.
double measure_call(const invocation_setup& on, core_id far);

/// Returns the seconds of a step of a group with a member on each core, called on core 0.
double measure_step(const invocation_setup& on, group_shape shape);

/// Returns the seconds per post if cores post to their neighbours in a ring: one token goes round,
/// or one token per core, where each core's own time counts.
double measure_ring(const invocation_setup& on, int tokens);

/// Costs of tasks of equal length that an object on core 0 gives to all other cores, one per call.
struct queue_costs {
  double seconds_a_task = 0;  ///< from the first task's start to the last one's end, per task
  double busy = 0;            ///< share of the consumers' time spent in tasks
};
queue_costs measure_work_queue(const invocation_setup& on, double length_s);

/// Returns the seconds per message if cores 1 .. `senders` send to core 0 by the protocol alone.
double measure_senders(const invocation_setup& on, int senders);

/// How a core waits for a message: by the protocol alone it polls or is halted until the sender's
/// interrupt; in a runtime the idle policy decides.
enum class waiting { polling, halted };

/// Energy of round trips between cores 0 and 1, when the chip's other cores have finished.
struct round_trip_energy {
  double seconds = 0;
  units::joules chip;
  std::optional<units::joules> both;  ///< energy of both cores, if known
};
round_trip_energy measure_bare_energy(const invocation_setup& on, waiting how);
round_trip_energy measure_call_energy(const invocation_setup& on, idle_policy idle);

}  // namespace creek::tool

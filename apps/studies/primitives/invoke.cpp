// SPDX-License-Identifier: Apache-2.0
// `creek bench scc-invoke`: invocations of objects on other cores of the simulated chip, by every
// message protocol: the parts of a round trip, steps of groups, rings, a work queue, many senders,
// energy. All times are virtual.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/core/messages/active_message.hpp>

#include "bench/doubling.hpp"
#include "chip/chip_options.hpp"
#include "command_line/command.hpp"
#include "invocations.hpp"
#include "json/json_value.hpp"
#include "output/energy.hpp"
#include "output/row_table.hpp"
#include "studies/studies.hpp"

namespace creek::tool {
namespace {

using json = json_value;

constexpr message_protocol all_protocols[] = {
    message_protocol::notification_vector, message_protocol::synchronized_ring,
    message_protocol::flagged_slot, message_protocol::linked_messages, message_protocol::pair_ring};

struct invoke_arguments {
  invoke_arguments() { chip.chip = "scc-800"; }

  chip_options chip;
  std::vector<message_protocol> protocols;  ///< empty: all
  bool as_json = false;
};

std::string name_of(const invocation_setup& on) {
  return std::string(to_string(on.protocol));
}

/// Returns the first other core at each distance from core 0, in order; on core 0's tile first.
std::vector<core_id> by_distance(const invocation_setup& on) {
  const scc_backend::chip& chip = on.machine.description;
  std::vector<core_id> found;
  for (int distance = 0; distance <= chip.columns + chip.rows; ++distance) {
    for (int core = 1; core < on.cores; ++core) {
      if (chip.hops(chip.place(core_id{0}), chip.place(core_id{core})) != distance) continue;
      found.push_back(core_id{core});
      break;
    }
  }
  return found;
}

void add_round_trips(const invocation_setup& on, json& rows) {
  const scc_backend::chip& chip = on.machine.description;
  const auto cycles_of = [&](double s) { return s * chip.clocks.core.frequency().value; };
  double nearest = 0;
  for (const core_id far : by_distance(on)) {
    const bare_costs bare = measure_bare(on, far);
    const bare_costs longest =
        measure_bare(on, far, {.there = active_message_bytes, .back = active_message_bytes});
    const double call = measure_call(on, far);
    if (nearest == 0) nearest = bare.round_trip_s;
    rows.push_back({{"protocol", name_of(on)},
                    {"hops", chip.hops(chip.place(core_id{0}), chip.place(far))},
                    {"virtual_us", call * 1e6},
                    {"call_cycles", cycles_of(call)},
                    {"messages_cycles", cycles_of(bare.round_trip_s)},
                    {"longest_cycles", cycles_of(longest.round_trip_s)},
                    {"one_way_cycles", cycles_of(bare.one_way_s)},
                    {"send_cycles", cycles_of(bare.send_s)},
                    {"empty_poll_cycles", cycles_of(bare.poll_s)},
                    {"network_cycles", cycles_of(bare.round_trip_s - nearest)},
                    {"middleware_cycles", cycles_of(call - bare.round_trip_s)}});
  }
}

void add_steps(const invocation_setup& given, json& rows) {
  for (const int cores : doubling(1, given.cores)) {
    invocation_setup on = given;
    on.cores = cores;
    const auto us = [&](group_shape shape) { return measure_step(on, shape) * 1e6; };
    rows.push_back({{"protocol", name_of(on)},
                    {"cores", cores},
                    {"tree_us", us(group_shape::tree())},
                    {"binomial_us", us(group_shape::binomial())},
                    {"flat_us", us(group_shape::flat())},
                    {"chain_us", us(group_shape::chain())},
                    {"mesh_us", us(group_shape::mesh())}});
  }
}

void add_rings(const invocation_setup& given, json& rows) {
  for (const int cores : doubling(2, given.cores)) {
    invocation_setup on = given;
    on.cores = cores;
    rows.push_back({{"protocol", name_of(on)},
                    {"cores", cores},
                    {"one_token_us", measure_ring(on, 1) * 1e6},
                    {"token_a_core_us", measure_ring(on, cores) * 1e6}});
  }
}

void add_work_queues(const invocation_setup& given, json& rows) {
  for (const int cores : doubling(2, given.cores)) {
    invocation_setup on = given;
    on.cores = cores;
    const auto busy = [&](double length_s) { return 100 * measure_work_queue(on, length_s).busy; };
    rows.push_back({{"protocol", name_of(on)},
                    {"cores", cores},
                    {"empty_us", measure_work_queue(on, 0).seconds_a_task * 1e6},
                    {"busy_10us_%", busy(10e-6)},
                    {"busy_100us_%", busy(100e-6)},
                    {"busy_1000us_%", busy(1000e-6)}});
  }
}

void add_senders(const invocation_setup& on, json& rows) {
  for (const int senders : doubling(1, on.cores - 1)) {
    rows.push_back({{"protocol", name_of(on)},
                    {"senders", senders},
                    {"us_a_message", measure_senders(on, senders) * 1e6}});
  }
}

void add_energies(const invocation_setup& on, json& rows) {
  const auto add = [&](const char* name, const round_trip_energy& found) {
    json row{{"protocol", name_of(on)},
             {"waiting", name},
             {"virtual_us", found.seconds * 1e6},
             {"chip_uJ", found.chip.value * 1e6},
             {"two_cores_uJ", nullptr}};
    if (found.both) row["two_cores_uJ"] = found.both->value * 1e6;
    rows.push_back(std::move(row));
  };
  add("messages, polling", measure_bare_energy(on, waiting::polling));
  add("messages, halted", measure_bare_energy(on, waiting::halted));
  add("call, idle poll", measure_call_energy(on, idle_policy::poll));
  add("call, idle block", measure_call_energy(on, idle_policy::block));
}

void run(const invoke_arguments& given) {
  refuse_records(given.chip, "scc-invoke");
  const scc_backend::machine_options on = to_machine_options(given.chip);
  const int cores = participating_cores(given.chip, on);
  if (cores < 2) throw usage_error("scc-invoke: needs at least two cores");
  json trips = json::array(), steps = json::array(), rings = json::array();
  json queues = json::array(), senders = json::array(), energies = json::array();
  for (const message_protocol protocol : all_protocols) {
    const auto& wanted = given.protocols;
    if (!wanted.empty() && std::ranges::find(wanted, protocol) == wanted.end()) continue;
    const invocation_setup setup{on, cores, protocol};
    add_round_trips(setup, trips);
    add_steps(setup, steps);
    add_rings(setup, rings);
    add_work_queues(setup, queues);
    add_senders(setup, senders);
    add_energies(setup, energies);
  }
  if (given.as_json) {
    const json whole{
        {"schema_version", 1}, {"command", "bench scc-invoke"}, {"chip", on.description.name},
        {"cores", cores},      {"round_trip", trips},           {"step", steps},
        {"ring", rings},       {"work_queue", queues},          {"senders", senders},
        {"energy", energies}};
    fmt::print("{}\n", with_energy(whole).dump(2));
    return;
  }
  fmt::print("Chip {}, {} cores; virtual time\n", on.description.name, cores);
  constexpr int width = 18;
  print_rows("Empty synchronous invocation by distance", trips, width);
  print_rows("Step of a group with a member on each core, by its shape", steps, width);
  print_rows("Posts to the next core of a ring, each", rings, width);
  print_rows("Work queue on core 0: an empty task, and how busy tasks of a length keep the others",
             queues, width);
  print_rows("Many senders, one receiver, by messages alone", senders, width);
  print_rows("Energy of a round trip between cores 0 and 1, the others at an end", energies, width);
  fmt::print(
      "\nWith the idle policy block a core looks for longer than these calls take before it "
      "halts.\n"
      "Halted, it is woken by an interrupt.\n");
}

constexpr const char* invoke_notes =
    R"(Parts of a round trip, in cycles of a core:
  call        an empty method of an object on the other core, called and waited for
  messages    two messages of the same lengths by the protocol alone
  longest     two messages of the greatest length, 96 bytes
  one_way     from the start of the first message until its handler begins
  send        sending the first message, part of "messages"
  empty_poll  a poll that finds no message
  network     "messages" minus their time to the nearest core
  middleware  "call" minus "messages"; a runtime polls once for each message that it handles,
              the protocol alone polls, waits and polls again

Examples:
  creek bench scc-invoke
  creek bench scc-invoke --protocol vector --protocol ring --cores 8)";

}  // namespace

void add_scc_invoke(command_line::command& bench) {
  const auto given = std::make_shared<invoke_arguments>();
  command_line::command* command = bench.add_subcommand(
      "scc-invoke",
      "Measure calls of objects on other cores of the simulated chip, in virtual time");
  command->footer(invoke_notes);
  std::vector<std::pair<std::string, message_protocol>> names;
  for (const message_protocol protocol : all_protocols) {
    names.emplace_back(to_string(protocol), protocol);
  }
  command
      ->add_choice("--protocol", given->protocols, names,
                   "Protocol to measure (default: all); may be given several times")
      ->type_name("NAME");
  add_chip_options(*command, given->chip);
  command->add_flag("--json", given->as_json, "Print a JSON object");
  command->callback([given] { run(*given); });
}

}  // namespace creek::tool

// SPDX-License-Identifier: Apache-2.0
// Options by name and from the environment.
#include <creek/tasking/options.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <utility>

#include <creek/core/decimal.hpp>
#include <creek/core/error.hpp>

namespace creek {

namespace {

template <class Kind, std::size_t N>
using name_table = std::array<std::pair<std::string_view, Kind>, N>;

constexpr name_table<scheduler_kind, 4> scheduler_names{{
    {"random", scheduler_kind::stealing_random},
    {"last-victim", scheduler_kind::stealing_last_victim},
    {"latency", scheduler_kind::stealing_latency},
    {"sharing", scheduler_kind::sharing},
}};
constexpr name_table<deque_kind, 2> deque_names{
    {{"host", deque_kind::host}, {"mpb", deque_kind::mpb}}};
constexpr name_table<idle_policy, 3> idle_names{{{"poll", idle_policy::poll},
                                                 {"backoff", idle_policy::backoff},
                                                 {"block", idle_policy::block}}};

constexpr name_table<message_protocol, 5> message_names{
    {{"vector", message_protocol::notification_vector},
     {"ring", message_protocol::synchronized_ring},
     {"slot", message_protocol::flagged_slot},
     {"linked", message_protocol::linked_messages},
     {"pair", message_protocol::pair_ring}}};

template <class Kind, std::size_t N>
std::string_view name_of(const name_table<Kind, N>& table, Kind kind) {
  for (const auto& [name, value] : table) {
    if (value == kind) return name;
  }
  return "?";
}

template <class Kind, std::size_t N>
Kind parse(const name_table<Kind, N>& table, const char* what, std::string_view wanted) {
  std::string known;
  for (const auto& [name, value] : table) {
    if (name == wanted) return value;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  throw usage_error("unknown " + std::string(what) + " '" + std::string(wanted) +
                    "'; valid: " + known);
}

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

/// Sets `option` to the value that the variable names, if the variable is set.
template <class Kind>
void read_name(const char* name, Kind (*parse_kind)(std::string_view), Kind& option) {
  const char* text = variable(name);
  if (text == nullptr) return;
  try {
    option = parse_kind(text);
  } catch (const usage_error& unknown) {
    throw usage_error(std::string(name) + ": " + unknown.what());
  }
}

std::uint64_t parse_number(const char* name, std::string_view text, std::uint64_t low,
                           std::uint64_t high) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high) {
    throw usage_error(std::string(name) + "='" + std::string(text) +
                      "': give a whole number from " + decimal(low) + " to " + decimal(high));
  }
  return value;
}

/// Parses numbers with commas between.
std::vector<core_id> parse_cores(const char* name, std::string_view text) {
  std::vector<core_id> cores;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    cores.emplace_back(static_cast<int>(parse_number(name, text.substr(begin, end - begin), 0,
                                                     scheduler_options::max_workers - 1)));
    begin = end + 1;
  }
  return cores;
}

}  // namespace

std::string_view to_string(scheduler_kind kind) {
  return name_of(scheduler_names, kind);
}
std::string_view to_string(deque_kind kind) {
  return name_of(deque_names, kind);
}
std::string_view to_string(idle_policy policy) {
  return name_of(idle_names, policy);
}
std::string_view to_string(message_protocol protocol) {
  return name_of(message_names, protocol);
}
scheduler_kind parse_scheduler(std::string_view name) {
  return parse(scheduler_names, "scheduler", name);
}
deque_kind parse_deque(std::string_view name) {
  return parse(deque_names, "deque", name);
}
idle_policy parse_idle(std::string_view name) {
  return parse(idle_names, "idle policy", name);
}
message_protocol parse_messages(std::string_view name) {
  return parse(message_names, "message protocol", name);
}

scheduler_options scheduler_options::from_environment() {
  scheduler_options options;
  if (const char* text = variable("CREEK_WORKERS")) {
    options.workers = static_cast<unsigned>(parse_number("CREEK_WORKERS", text, 1, max_workers));
  }
  if (const char* text = variable("CREEK_PIN")) {
    options.pin = parse_number("CREEK_PIN", text, 0, 1) != 0;
  }
  read_name("CREEK_SCHEDULER", parse_scheduler, options.scheduler);
  read_name("CREEK_DEQUE", parse_deque, options.deque);
  read_name("CREEK_IDLE", parse_idle, options.idle);
  if (const char* text = variable("CREEK_SPIN_WAIT")) {
    options.spin_wait =
        std::chrono::microseconds{parse_number("CREEK_SPIN_WAIT", text, 0, 60'000'000)};
  }
  read_name("CREEK_MESSAGES", parse_messages, options.messages);
  if (const char* text = variable("CREEK_SERVE_ONLY")) {
    options.serve_only = parse_cores("CREEK_SERVE_ONLY", text);
  }
  if (const char* text = variable("CREEK_STALL_LIMIT")) {
    options.stall_limit =
        std::chrono::milliseconds{parse_number("CREEK_STALL_LIMIT", text, 0, 86'400'000)};
  }
  if (const char* text = variable("CREEK_HANG_LIMIT")) {
    options.hang_limit = std::chrono::seconds{parse_number("CREEK_HANG_LIMIT", text, 0, 86'400)};
  }
  if (const char* text = variable("CREEK_DUMP_ON_SIGQUIT")) {
    options.dump_on_sigquit = parse_number("CREEK_DUMP_ON_SIGQUIT", text, 0, 1) != 0;
  }
  if (const char* text = variable("CREEK_STACK_SIZE")) {
    options.stack_size =
        parse_number("CREEK_STACK_SIZE", text, std::uint64_t{16} << 10, std::uint64_t{1} << 32);
  }
  return options;
}

std::chrono::nanoseconds detail::default_stall_limit() noexcept {
#ifdef NDEBUG
  return std::chrono::nanoseconds{0};
#else
  return std::chrono::seconds{1};
#endif
}

void ext::check_serve_only(scheduler_options& options) {
  auto& chosen = options.serve_only;
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  for (const core_id each : chosen) {
    if (each.value >= 0 && each.index() < options.workers) continue;
    throw usage_error("serve_only: there is no worker " + decimal(each.value) +
                      "; this runtime has 0 to " + decimal(std::size_t{options.workers} - 1));
  }
  if (!chosen.empty() && chosen.size() == options.workers) {
    throw usage_error("serve_only: names all " + decimal(options.workers) +
                      " workers, and none is left for tasks; name fewer, or raise workers");
  }
}

bool ext::serves_only(const scheduler_options& options, unsigned worker) noexcept {
  return std::binary_search(options.serve_only.begin(), options.serve_only.end(),
                            core_id{static_cast<int>(worker)});
}

}  // namespace creek

// SPDX-License-Identifier: Apache-2.0
// One list of keys, walked twice: by the reader, which takes the keys that it finds and rejects the
// rest, and by the writer.
#include <creek/scc/chip_file.hpp>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <type_traits>

#include <creek/core/error.hpp>
#include <creek/scc/cost_table.hpp>

namespace creek::scc_backend {

namespace {

using json = nlohmann::ordered_json;

/// Whole numbers beyond this, in cycles or bytes, describe nothing. chip::validate() knows which
/// times are too long.
constexpr std::int64_t largest = std::int64_t{1} << 40;

/// Position of a value, for error messages.
struct place {
  const std::string* source;
  std::string path;

  [[noreturn]] void refuse(const std::string& why) const {
    throw usage_error(*source + ": " + path + " " + why);
  }
  place within(const std::string& key) const {
    return {source, path.empty() ? key : path + "." + key};
  }
};

// --- Values -------------------------------------------------------------------------------------

std::int64_t whole_number(const json& from, const place& at) {
  if (!from.is_number_integer()) at.refuse("must be a whole number, not " + from.dump());
  const bool huge = from.is_number_unsigned() && from.get<std::uint64_t>() > std::uint64_t{largest};
  if (huge || from.get<std::int64_t>() > largest) at.refuse("is too large: " + from.dump());
  if (from.get<std::int64_t>() < 0) at.refuse("must not be negative, but is " + from.dump());
  return from.get<std::int64_t>();
}

double positive_number(const json& from, const place& at) {
  if (!from.is_number()) at.refuse("must be a number, not " + from.dump());
  if (!(from.get<double>() > 0)) at.refuse("must be positive, but is " + from.dump());
  return from.get<double>();
}

void take(const json& from, std::string& to, const place& at) {
  if (!from.is_string()) at.refuse("must be a string, not " + from.dump());
  to = from.get<std::string>();
}
void take(const json& from, int& to, const place& at) {
  const std::int64_t number = whole_number(from, at);
  if (number > std::numeric_limits<int>::max()) at.refuse("is too large: " + from.dump());
  to = static_cast<int>(number);
}
void take(const json& from, std::size_t& to, const place& at) {
  to = static_cast<std::size_t>(whole_number(from, at));
}
void take(const json& from, cycles& to, const place& at) {
  to = {whole_number(from, at)};
}
void take(const json& from, double& to, const place& at) {
  if (!from.is_number()) at.refuse("must be a number, not " + from.dump());
  if (from.get<double>() < 0) at.refuse("must not be negative, but is " + from.dump());
  to = from.get<double>();
}
template <int T, int E, int V, int C, int B>
void take(const json& from, units::quantity<T, E, V, C, B>& to, const place& at) {
  take(from, to.value, at);
}
void take(const json& from, units::hertz& to, const place& at) {  // in megahertz
  const double mhz = positive_number(from, at);
  if (mhz < 1e-3 || mhz > 1e6) at.refuse("must be 0.001 to 1000000 MHz, not " + from.dump());
  to = units::megahertz(mhz);
}
void take(const json& from, clock_period& to, const place& at) {
  units::hertz frequency;
  take(from, frequency, at);
  to = period_of(frequency);
}
void take(const json& from, virtual_time& to, const place& at) {  // in nanoseconds
  to = {whole_number(from, at) * 1'000'000};
}
void take(const json& from, mesh_place& to, const place& at) {
  if (!from.is_array() || from.size() != 2) at.refuse("must be [column, row], not " + from.dump());
  take(from[0], to.x, at);
  take(from[1], to.y, at);
}
void take(const json& from, voltage_level& to, const place& at) {
  if (!from.is_array() || from.size() != 2) at.refuse("must be [volts, MHz], not " + from.dump());
  to.voltage = units::volts{positive_number(from[0], at)};
  take(from[1], to.top, at);
}
template <class T>
void take(const json& from, std::vector<T>& to, const place& at) {
  if (!from.is_array()) at.refuse("must be an array, not " + from.dump());
  to.clear();
  for (std::size_t i = 0; i < from.size(); ++i) {
    to.emplace_back();
    take(from[i], to.back(), {at.source, at.path + "[" + std::to_string(i) + "]"});
  }
}

json give(const std::string& value) {
  return value;
}
template <class T>
requires std::is_arithmetic_v<T> json give(T value) {
  return value;
}
json give(cycles value) {
  return value.count;
}
template <int T, int E, int V, int C, int B>
json give(units::quantity<T, E, V, C, B> value) {
  return value.value;
}
json give(units::hertz value) {
  return value.value / 1e6;
}
json give(clock_period value) {
  return value.frequency().value / 1e6;
}
json give(virtual_time value) {
  return value.femtoseconds / 1'000'000;
}
json give(mesh_place value) {
  return {value.x, value.y};
}
json give(const voltage_level& value) {
  return {value.voltage.value, value.top.value / 1e6};
}
template <class T>
json give(const std::vector<T>& values) {
  json made = json::array();
  for (const T& value : values) made.push_back(give(value));
  return made;
}

// --- The two walkers ----------------------------------------------------------------------------

class reader {
 public:
  reader(const json& from, place at) : from_{from}, at_{std::move(at)} {
    if (!from.is_object()) {
      throw usage_error(*at_.source + ": " + (at_.path.empty() ? "the description" : at_.path) +
                        " must be an object, not " + from.dump());
    }
  }
  bool has(const char* key) const { return from_.contains(key); }
  template <class T>
  void operator()(const char* key, T& value) {
    known_.insert(key);
    if (has(key)) take(from_.at(key), value, at_.within(key));
  }
  template <class Walk>
  void group(const char* key, Walk walk) {
    known_.insert(key);
    if (!has(key)) return;
    reader inner(from_.at(key), at_.within(key));
    walk(inner);
    inner.end();
  }
  /// Called when all keys have been asked for: any other key is a mistake.
  void end() const {
    for (const auto& [key, value] : from_.items()) {
      if (!known_.contains(key)) at_.within(key).refuse("is not known");
    }
  }
  [[noreturn]] void refuse(const char* key, const std::string& why) const {
    at_.within(key).refuse(why);
  }

 private:
  const json& from_;
  place at_;
  std::set<std::string> known_;
};

class writer {
 public:
  template <class T>
  void operator()(const char* key, const T& value) {
    made[key] = give(value);
  }
  template <class Walk>
  void group(const char* key, Walk walk) {
    writer inner;
    walk(inner);
    made[key] = std::move(inner.made);
  }
  json made = json::object();
};

/// Walks the clocks. The core's is a divider of the reference where it can be, else a frequency.
void walk_clocks(reader& walk, chip& of) {
  walk("memory_mhz", of.clocks.memory);
  walk("mesh_mhz", of.clocks.mesh);
  int divider = 0;
  walk("core_divider", divider);
  if (walk.has("core_divider")) {
    if (walk.has("core_mhz")) walk.refuse("core_mhz", "contradicts core_divider: give one of them");
    if (divider < of.power.lowest_divider || divider > of.power.highest_divider) {
      walk.refuse("core_divider", "must be " + std::to_string(of.power.lowest_divider) + " to " +
                                      std::to_string(of.power.highest_divider) + ", not " +
                                      std::to_string(divider));
    }
    of.clocks.core = of.power.divided(divider);
  }
  walk("core_mhz", of.clocks.core);
}
void walk_clocks(writer& walk, chip& of) {
  const int divider = of.power.nearest_divider(of.clocks.core);
  const bool in_range = divider >= of.power.lowest_divider && divider <= of.power.highest_divider;
  if (in_range && of.power.divided(divider) == of.clocks.core) {
    walk("core_divider", divider);
  } else {
    walk("core_mhz", of.clocks.core);
  }
  walk("mesh_mhz", of.clocks.mesh);
  walk("memory_mhz", of.clocks.memory);
}

template <class Walker>
void walk_power(Walker& walk, chip_power& of) {
  walk("reference_mhz", of.reference);
  walk("lowest_divider", of.lowest_divider);
  walk("highest_divider", of.highest_divider);
  walk("island_columns", of.island_columns);
  walk("island_rows", of.island_rows);
  walk("divider_change", of.divider_change);
  walk("voltage_change_ns", of.voltage_change);
  walk("levels", of.levels);
  walk.group("model", [&](Walker& inner) {
    inner("tile_capacitance", of.model.tile_capacitance);
    inner("tile_leakage", of.model.tile_leakage);
    inner("router_cycle", of.model.router_cycle);
    inner.group("share", [&](Walker& shares) {
      for (std::size_t i = 0; i < activities; ++i) {
        shares(to_string(static_cast<activity>(i)), of.model.share[i]);
      }
    });
  });
}

/// Walks everything but "base" and "cores", which are not the chip's own.
template <class Walker>
void walk_chip(Walker& walk, chip& of) {
  walk("name", of.name);
  walk.group("mesh", [&](Walker& inner) {
    inner("columns", of.columns);
    inner("rows", of.rows);
    inner("cores_per_tile", of.cores_per_tile);
  });
  if constexpr (std::is_same_v<Walker, reader>) of.place_edges();
  walk("counters_at", of.counters_at);
  walk("controllers_at", of.controllers_at);
  walk("ranks_per_controller", of.ranks_per_controller);
  walk("mpb_bytes", of.mpb_bytes);
  walk("shared_bytes", of.shared_bytes);
  walk("private_bytes", of.private_bytes);
  walk("l1_bytes", of.l1_bytes);
  walk("l2_bytes", of.l2_bytes);
  walk("start_skew", of.start_skew);
  walk.group("power", [&](Walker& inner) { walk_power(inner, of.power); });
  walk.group("clocks", [&](Walker& inner) { walk_clocks(inner, of); });
  walk.group("costs", [&](Walker& inner) {
    for (const cost_entry& entry : cost_table()) inner(entry.name, of.costs.*entry.cost);
  });
}

}  // namespace

chip parse_chip(std::string_view text, const std::string& source) {
  json document;
  try {
    document = json::parse(text);
  } catch (const json::parse_error& problem) {
    throw usage_error(source + ": not JSON, byte " + std::to_string(problem.byte));
  } catch (const json::exception& problem) {  // a number that no double holds
    throw usage_error(source + ": " + problem.what());
  }
  reader walk(document, {&source, {}});
  std::string base = "scc-533";
  walk("base", base);
  chip made;
  try {
    made = chip::named(base);
  } catch (const usage_error& problem) {
    walk.refuse("base", std::string("is an ") + problem.what());
  }
  if (!walk.has("name")) made.name = source;
  walk_chip(walk, made);
  int cores = 0;
  walk("cores", cores);
  walk.end();
  try {
    made.validate();
  } catch (const usage_error& problem) {
    throw usage_error(source + ": " + problem.what());
  }
  if (walk.has("cores") && cores != made.cores()) {
    walk.refuse("cores", "is " + std::to_string(cores) + ", but a mesh of " +
                             std::to_string(made.columns) + " x " + std::to_string(made.rows) +
                             " tiles of " + std::to_string(made.cores_per_tile) + " holds " +
                             std::to_string(made.cores()));
  }
  return made;
}

chip read_chip(const std::string& path) {
  // A description has some kilobytes. A device that never ends is refused like any large file.
  constexpr std::size_t max_bytes = std::size_t{16} << 20;
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  char piece[4096];
  while (file && text.size() <= max_bytes) {
    file.read(piece, sizeof piece);
    text.append(piece, static_cast<std::size_t>(file.gcount()));
  }
  if (!file.is_open() || file.bad() || (errno != 0 && text.empty())) {
    throw usage_error(path + ": " + std::strerror(errno != 0 ? errno : EIO));
  }
  if (text.size() > max_bytes) {
    throw usage_error(path + ": larger than 16 MiB: not the description of a chip");
  }
  return parse_chip(text, path);
}

std::string to_json(const chip& what) {
  writer walk;
  chip copy = what;
  walk("base", std::string("scc-533"));
  walk_chip(walk, copy);
  return walk.made.dump(2);
}

}  // namespace creek::scc_backend

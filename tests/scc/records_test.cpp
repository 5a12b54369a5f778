// SPDX-License-Identifier: Apache-2.0
// Records of a simulated run: the trace, byte for byte the same in every run, and the picture of
// the mesh.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include <creek/core/error.hpp>
#include <creek/scc.hpp>
#include <creek/scc/dvfs_control.hpp>
#include <creek/scc/power_fit.hpp>
#include <creek/scc/spmd.hpp>
#include <creek/scc/time_accounting.hpp>

#include "support/temporary_folder.hpp"

namespace {

using namespace creek;
using namespace creek::scc_backend;
using nlohmann::json;

class records : public ::testing::Test {
 protected:
  std::string text_of(const char* name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  machine_options tracing(const char* name, std::uint64_t seed = 0) const {
    machine_options made;
    made.trace_file = (folder_ / name).string();
    made.seed = seed;
    return made;
  }

  creek::support::temporary_folder folder_;
};

void ring(scc_communicator& c) {
  for (int i = 0; i < 3; ++i) {
    std::vector<int> out(20, c.rank()), in(20);
    c.exchange(std::span<const int>{out}, (c.rank() + 1) % c.size(), std::span{in},
               (c.rank() + c.size() - 1) % c.size());
  }
}

TEST_F(records, traces_of_equal_runs_are_equal) {
  simulate(48, ring, tracing("a"));
  simulate(48, ring, tracing("b"));
  EXPECT_GT(text_of("a").size(), 10'000U);
  EXPECT_TRUE(text_of("a") == text_of("b"));
  simulate(48, ring, tracing("c", 7));
  simulate(48, ring, tracing("d", 7));
  EXPECT_TRUE(text_of("c") == text_of("d"));
  EXPECT_FALSE(text_of("a") == text_of("c")) << "another seed, another schedule";
}

TEST_F(records, a_trace_says_what_each_core_does) {
  run_cores(tracing("trace"), [](memory& m) {
    if (m.self() == core_id{0}) {
      const trace_span task(m, "task", 5);
      m.charge(cycles{1000});
      m.store(m.at(core_id{1}, 0).as<word>(), 1);
    } else if (m.self() == core_id{1}) {
      m.wait_until(m.at(core_id{1}, 0).as<word>(), [](word w) { return w == 1; });
      dvfs_control(m).wait_power(dvfs_control(m).request_power(2));
      m.charge(cycles{8000});
    }
  });
  const json trace = json::parse(text_of("trace"));
  EXPECT_EQ(trace["otherData"]["clock"], "virtual");
  std::map<int, std::vector<std::string>> slices;
  std::map<std::string, std::vector<double>> graphs;
  for (const json& e : trace["traceEvents"]) {
    if (e["ph"] == "B") slices[e["tid"].get<int>()].push_back(e["name"]);
    if (e["ph"] == "C") graphs[e["name"]].push_back(e["args"]["value"]);
  }
  EXPECT_EQ(slices[1], (std::vector<std::string>{"task", "compute"}));
  EXPECT_EQ(slices[2], (std::vector<std::string>{"compute", "wait", "compute", "wait", "compute"}));
  EXPECT_EQ(slices.count(3), 0U) << "core 2 ends where it begins";
  EXPECT_EQ(graphs["island 0 frequency (kHz)"], (std::vector<double>{533'333, 800'000}));
  EXPECT_EQ(graphs["island 0 voltage (mV)"], (std::vector<double>{800, 1100}));
  EXPECT_EQ(graphs["island 5 voltage (mV)"], (std::vector<double>{800}));
  EXPECT_GE(graphs["island 0 power (mW)"].size(), 4U);
}

TEST_F(records, a_deadlock_leaves_its_trace) {
  EXPECT_THROW(run_cores(tracing("trace"),
                         [](memory& m) {
                           if (m.self() != core_id{0}) return;
                           m.wait_until(m.at(core_id{0}, 0).as<word>(), [](word w) { return w; });
                         }),
               error);
  EXPECT_TRUE(json::accept(text_of("trace")));
}

TEST_F(records, a_file_that_cannot_be_written_is_an_error) {
  EXPECT_THROW(simulate(2, ring, tracing("no/such/folder")), error);
  EXPECT_THROW(simulate(2, ring, {.heatmap_file = (folder_ / "no/such/folder").string()}), error);
}

TEST_F(records, both_files_appear_or_none) {
  machine_options options = tracing("trace");
  options.heatmap_file = "/dev/full";
  EXPECT_THROW(simulate(2, ring, options), error);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(records, a_link_is_followed_unless_refused) {
  std::filesystem::create_symlink("real", folder_ / "link");
  std::ofstream(folder_ / "real") << "old";
  machine_options options = tracing("link");
  options.records_may_be = atomic_file::targets::regular;
  EXPECT_THROW(simulate(2, ring, options), error);
  EXPECT_EQ(text_of("real"), "old");
  simulate(2, ring, tracing("link"));
  EXPECT_TRUE(json::accept(text_of("real")));
}

TEST_F(records, of_tasks_are_refused_at_once_or_fail_the_shut_down) {
  scc on(2);
  on.machine.trace_file = (folder_ / "no/such/folder").string();
  EXPECT_THROW(runtime{on}, error);
  on.machine.trace_file.clear();
  on.machine.heatmap_file = "/dev/full";
  runtime rt{on};
  rt.run([] {});
  EXPECT_THROW(rt.shut_down(), error);
}

TEST_F(records, the_picture_has_a_cell_a_core_in_each_panel) {
  for (const int cores : {48, 100}) {
    machine_options options{.description = chip::with_cores(cores)};
    options.heatmap_file = (folder_ / "map.svg").string();
    simulate(40, ring, options);
    const std::string svg = text_of("map.svg");
    EXPECT_EQ(svg.rfind("<svg", 0), 0U);
    std::size_t cells = 0;
    for (auto at = svg.find("<title>core "); at != svg.npos;
         at = svg.find("<title>core ", at + 1)) {
      ++cells;
    }
    EXPECT_EQ(cells, 3U * static_cast<std::size_t>(options.description.cores()));
    EXPECT_EQ(svg.find("nan"), svg.npos);
    EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
    const std::string first = svg;
    simulate(40, ring, options);
    EXPECT_TRUE(text_of("map.svg") == first);
  }
}

TEST(power_fit, gives_the_constants_of_the_model) {
  const power_model fitted = fit_power_model(), built_in;
  EXPECT_NEAR(built_in.tile_capacitance / fitted.tile_capacitance, 1, 1e-5);
  EXPECT_NEAR(built_in.tile_leakage / fitted.tile_leakage, 1, 1e-5);
  EXPECT_NEAR(built_in.router_cycle / fitted.router_cycle, 1, 1e-5);
  EXPECT_EQ(built_in.share, fitted.share);
}

TEST(power_fit, stays_near_what_was_measured) {
  for (const power_point& p : published_power()) {
    EXPECT_NEAR(chip_power_at(p, {}) / p.measured, 1, 0.09) << p.what << ' ' << p.source;
  }
}

// Any small change of a constant makes the sum of the squared errors larger.
TEST(power_fit, is_a_minimum) {
  const auto squares = [](const power_model& model) {
    double sum = 0;
    for (const power_point& p : published_power()) {
      const double error = chip_power_at(p, model) / p.measured - 1;
      sum += error * error;
    }
    return sum;
  };
  const double least = squares({});
  for (const double factor : {0.99, 1.01}) {
    power_model c, l, r;
    c.tile_capacitance = factor * c.tile_capacitance;
    l.tile_leakage = factor * l.tile_leakage;
    r.router_cycle = factor * r.router_cycle;
    for (const power_model& changed : {c, l, r}) EXPECT_GT(squares(changed), least);
  }
}

}  // namespace

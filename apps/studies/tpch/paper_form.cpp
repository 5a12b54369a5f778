// SPDX-License-Identifier: Apache-2.0
#include "paper_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <creek/core/error.hpp>
#include <creek/host/spmd.hpp>

namespace creek::tool {

bool has_paper_form(const tpch::query& which) noexcept {
  return std::ranges::find(paper_queries, &which) != paper_queries.end();
}

paper_form::any_form paper_form::open(const tpch::query& which, tpch::database& from,
                                      const tpch::parameter_values& given) {
  if (&which == &tpch::q3) return tpch::paper::q3_form(from, given);
  if (&which == &tpch::q6) return tpch::paper::q6_form(from, given);
  if (&which == &tpch::q12) return tpch::paper::q12_form(from, given);
  throw usage_error(fmt::format("{}: has no published form", which.name));
}

paper_form::paper_form(const tpch::query& which, tpch::database& from,
                       const tpch::parameter_values& given)
    : form_(open(which, from, given)) {}

std::uint64_t paper_form::rows() const {
  return std::visit([](const auto& form) { return form.rows(); }, form_);
}

void paper_form::check_not_lost() const {
  if (std::visit([](const auto& form) { return form.lost(); }, form_)) {
    throw error(EIO, "a file of the tables was changed while it was read");
  }
}

paper_run paper_form::on_host(int ranks) const {
  using clock = std::chrono::steady_clock;
  const auto seconds = [](clock::duration d) { return std::chrono::duration<double>(d).count(); };
  paper_run made;
  spmd(ranks, [&](host_communicator& c) {
    c.barrier();
    const auto start = clock::now();
    auto read = start;
    auto result = std::visit(
        [&](const auto& form) {
          return form.run(c, [&] {
            c.barrier();
            read = clock::now();
          });
        },
        form_);
    if (c.rank() == 0) {  // all other ranks have sent their results to it
      made = {std::move(result), seconds(read - start), seconds(clock::now() - read)};
    }
  });
  check_not_lost();
  return made;
}

paper_run paper_form::on_chip(int cores, const scc_backend::machine_options& on) const {
  paper_run made;
  virtual_time read;
  const auto report = simulate(
      cores,
      [&](scc_communicator& c) {
        auto result = std::visit(
            [&](const auto& form) {
              return form.run(c, [&] {
                c.barrier();
                if (c.rank() == 0) read = c.memory().now();
              });
            },
            form_);
        if (c.rank() == 0) made.result = std::move(result);
      },
      on);
  check_not_lost();
  made.reading = read.in_seconds().value;
  made.computing = (report.length() - read).in_seconds().value;
  made.energy = report.usage.total;
  return made;
}

}  // namespace creek::tool

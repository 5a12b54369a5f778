// SPDX-License-Identifier: Apache-2.0
// Options of `creek compare`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <creek/scc/spmd.hpp>

#include "../dense/problem.hpp"
#include "chip/chip_options.hpp"
#include "options/policy_options.hpp"

namespace creek::tool::compare {

enum class problem_kind { lu, chol, qr, fib, sort };

/// Memory in which the simulated chip holds the matrix: shared by all cores, or private parts
/// whose cores send each other messages.
enum class chip_memory { shared, messages };

struct setup {
  problem_kind kind = problem_kind::lu;
  std::string name;                                          ///< name of the problem: lu ...
  std::vector<long long> n;                                  ///< sizes; never empty
  std::vector<std::string> policies{"polling", "blocking"};  ///< the first is the baseline
  std::string backend = "host";
  std::optional<long long> workers, block;
  dense::form layout = dense::form::column;
  std::uint64_t seed = 1;  ///< seed of the matrix, and of the order of runs
  int runs = 15;
  int warmup = 1;  ///< rounds that are not counted
  policy_limits limits;
  std::string meter;  ///< empty: the environment decides
  bool as_json = false;
  std::string plot, trace;
  std::string chip = "scc-533";  ///< a preset, or a file that describes a chip
  chip_memory memory = chip_memory::shared;
  scc_backend::block_moves moves = scc_backend::block_moves::uncached;

  bool is_dense() const noexcept { return kind <= problem_kind::qr; }
};

/// Fills in the sizes if none are given, and spells policies as the library does.
void complete(setup& given);

/// Throws usage_error for options that contradict each other, for an unknown policy (the message
/// lists the known ones), and for a policy that lacks its option.
void require_sense(const setup& given);

/// Inserts the policy before the extension: `run.json` and "polling" make `run.polling.json`.
std::string file_of_policy(const std::string& file, std::string_view policy);

}  // namespace creek::tool::compare

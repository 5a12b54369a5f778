// SPDX-License-Identifier: Apache-2.0
#include "launcher.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace creek::mpi_backend {
namespace {

bool is_set(const char* variable) noexcept {
  return std::getenv(variable) != nullptr;
}

int number(const char* variable, int otherwise) noexcept {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

}  // namespace

launched_rank launched_as() noexcept {
  struct names {
    const char *rank, *ranks;
  };
  constexpr std::array<names, 3> launchers{{{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                            {"PMI_RANK", "PMI_SIZE"},
                                            {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}}};
  for (const names& each : launchers) {
    if (is_set(each.ranks)) return {number(each.rank, 0), number(each.ranks, 1)};
  }
  return {};
}

bool is_launched() noexcept {
  constexpr std::array variables{
      "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",           "PMI_RANK", "PMI_FD", "PMIX_RANK",
      "PALS_RANKID",          "MV2_COMM_WORLD_SIZE"};
  return std::ranges::any_of(variables, is_set);
}

std::string_view mpi_of_srun() noexcept {
  if (is_set("OMPI_COMM_WORLD_SIZE") || number("SLURM_STEP_NUM_TASKS", 1) <= 1) return {};
  if (is_set("PMI_SIZE")) return "mpich";  // first: mpirun may be within an srun --mpi=pmix
  return is_set("PMIX_RANK") ? "openmpi" : "";
}

}  // namespace creek::mpi_backend

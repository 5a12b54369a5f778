// SPDX-License-Identifier: Apache-2.0
// Launchers by the variables that they set: Slurm's srun, and mpirun within a job of Slurm.
#include "launcher.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <creek/mpi.hpp>

namespace creek::mpi_backend {
namespace {

/// Removes the variables of launchers, and puts the environment back.
class MpiLauncher : public testing::Test {
 protected:
  void SetUp() override {
    std::vector<std::string> all;
    for (char** each = environ; *each != nullptr; ++each) all.emplace_back(*each);
    for (const std::string& each : all) {
      const std::string name = each.substr(0, each.find('='));
      for (const char* const start : {"SLURM_", "PMI", "OMPI_", "PALS_", "MV2_", "CREEK_MPI"}) {
        if (name.starts_with(start)) unset(name);
      }
    }
  }
  void TearDown() override {
    for (const std::string& each : set_) unsetenv(each.c_str());
    for (const auto& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
  }
  void set(const std::string& name, const char* value) {
    setenv(name.c_str(), value, 1);
    set_.push_back(name);
  }
  void srun(const char* rank, const char* ranks) {
    set("SLURM_PROCID", rank);
    set("SLURM_STEP_NUM_TASKS", ranks);
  }

 private:
  void unset(const std::string& name) {
    before_.emplace_back(name, std::getenv(name.c_str()));
    unsetenv(name.c_str());
  }
  std::vector<std::pair<std::string, std::string>> before_;
  std::vector<std::string> set_;
};

TEST_F(MpiLauncher, IsNone) {
  EXPECT_FALSE(is_launched());
  EXPECT_EQ(launched_as().ranks, 1);
  EXPECT_EQ(mpi_of_srun(), "");
}

TEST_F(MpiLauncher, IsSrunForOpenMpi) {
  srun("1", "4");
  set("PMIX_RANK", "1");
  EXPECT_TRUE(is_launched());
  EXPECT_EQ(mpi_of_srun(), "openmpi");
  EXPECT_EQ(launched_as().rank, 1);
  EXPECT_EQ(launched_as().ranks, 4);
}

TEST_F(MpiLauncher, IsSrunForMpich) {
  srun("1", "4");
  set("PMI_RANK", "1");
  set("PMI_SIZE", "4");
  EXPECT_EQ(mpi_of_srun(), "mpich");
  set("PMIX_RANK", "0");  // of an srun around mpirun
  EXPECT_EQ(mpi_of_srun(), "mpich");
  EXPECT_EQ(launched_as().ranks, 4);
}

TEST_F(MpiLauncher, IsSrunWhoseTasksCannotFindEachOther) {
  srun("1", "4");
  EXPECT_FALSE(is_launched());
  EXPECT_EQ(mpi_of_srun(), "");
  EXPECT_EXIT(creek::ranks([](mpi_communicator&) { std::_Exit(0); }), testing::ExitedWithCode(2),
              "^$");
  set("SLURM_PROCID", "0");
  EXPECT_EXIT(creek::ranks([](mpi_communicator&) { std::_Exit(0); }), testing::ExitedWithCode(2),
              "^creek: mpi: started as one of 4 ranks, but found no other [^\n]* srun [^\n]*\n$");
}

TEST_F(MpiLauncher, IsSrunOfASingleTask) {
  srun("0", "1");
  EXPECT_FALSE(is_launched());
  EXPECT_EQ(mpi_of_srun(), "");
}

TEST_F(MpiLauncher, IsMpirunAlsoIfSrunStartedItsHelpers) {
  srun("1", "2");
  set("OMPI_COMM_WORLD_RANK", "0");
  set("OMPI_COMM_WORLD_SIZE", "1");
  EXPECT_EQ(mpi_of_srun(), "");
  EXPECT_EQ(launched_as().ranks, 1);
  EXPECT_EQ(launched_as().rank, 0);
}

}  // namespace
}  // namespace creek::mpi_backend

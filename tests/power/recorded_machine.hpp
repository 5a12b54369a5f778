// SPDX-License-Identifier: Apache-2.0
// The files of a machine in /sys, as `grep -r . devices/system/cpu` lists them there, laid out in a
// folder that CREEK_SYSFS names while the object lives. tests/power/machines has the lists.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "support/temporary_folder.hpp"

namespace creek::power {

class recorded_machine {
 public:
  explicit recorded_machine(const std::string& name) {
    std::ifstream list(std::string(CREEK_TEST_MACHINES) + "/" + name + ".txt");
    if (!list) throw std::runtime_error("no list of the machine " + name);
    std::size_t files = 0;
    for (std::string row; std::getline(list, row); ++files) {
      const std::size_t colon = row.find(':');
      write(row.substr(0, colon), row.substr(colon + 1));
    }
    if (files == 0) throw std::runtime_error("an empty list of the machine " + name);
    setenv("CREEK_SYSFS", folder_.path().c_str(), 1);
  }
  ~recorded_machine() { unsetenv("CREEK_SYSFS"); }
  recorded_machine(const recorded_machine&) = delete;
  recorded_machine& operator=(const recorded_machine&) = delete;

  /// Returns the recorded file for a path below /sys.
  std::filesystem::path path(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name, const std::string& value) const {
    std::filesystem::create_directories(path(name).parent_path());
    std::ofstream(path(name)) << value << '\n';
  }
  /// Reads without the rest of longer lines, which the kernel's files do not have.
  std::string read(const std::string& name) const {
    std::ifstream file(path(name));
    std::string line;
    std::getline(file, line);
    return line;
  }

  static std::string policy(int number, const std::string& file) {
    return "devices/system/cpu/cpufreq/policy" + std::to_string(number) + "/" + file;
  }
  std::string read(int number, const std::string& file) const { return read(policy(number, file)); }
  void write(int number, const std::string& file, const std::string& value) const {
    write(policy(number, file), value);
  }
  void remove(int number, const std::string& file) const {
    std::filesystem::remove_all(path(policy(number, file)));
  }
  /// Replaces a file by a folder, which even root can neither read nor open for writing.
  void make_folder(int number, const std::string& file) const {
    remove(number, file);
    std::filesystem::create_directory(path(policy(number, file)));
  }
  /// Returns the current "governor min max".
  std::string settings(int number) const {
    return read(number, "scaling_governor") + " " + read(number, "scaling_min_freq") + " " +
           read(number, "scaling_max_freq");
  }

 private:
  support::temporary_folder folder_;
};

}  // namespace creek::power

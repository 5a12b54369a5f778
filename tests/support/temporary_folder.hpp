// SPDX-License-Identifier: Apache-2.0
// A folder for one test, deleted with its contents when the test ends.
#pragma once

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace creek::support {

class temporary_folder {
 public:
  temporary_folder() {
    std::string pattern = ::testing::TempDir() + "/creek-test-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), pattern);
    }
    path_ = pattern;
  }
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  operator const std::filesystem::path&() const noexcept { return path_; }
  friend std::filesystem::path operator/(const temporary_folder& folder,
                                         const std::filesystem::path& name) {
    return folder.path_ / name;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace creek::support

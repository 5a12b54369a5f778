// SPDX-License-Identifier: Apache-2.0
// The profile of a runtime: where the time of its workers went, by the names of the tasks.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>

#include <creek/core/language.hpp>

namespace creek {

class atomic_file;

/// Times of a runtime from its begin to its end, in wall time. The time of each worker is divided
/// without a rest: the `running` of all workers is the sum of the tasks' `total`, and the four
/// times of a worker add up to `duration`. Refers to its rows and names.
struct profile {
  /// The tasks of one name that a worker has begun. What runs within its maker belongs to that.
  struct task {
    const char* name = "";
    std::uint64_t count = 0;
    std::chrono::nanoseconds total{};    ///< running; not while it was suspended
    std::chrono::nanoseconds longest{};  ///< total of the longest one
    std::chrono::nanoseconds waited{};   ///< suspended

    /// Adds the tasks of another row.
    void add(const task& other) noexcept;
  };
  struct worker {
    std::chrono::nanoseconds running{};
    std::chrono::nanoseconds searching{};  ///< looking for work, stealing, changing tasks
    std::chrono::nanoseconds sleeping{};   ///< in the kernel
    std::chrono::nanoseconds waiting{};    ///< idle in a wait that had no memory to leave its stack
  };

  const char* backend = "";
  std::chrono::nanoseconds duration{};
  std::span<const task> tasks{};  ///< the largest total first
  std::span<const worker> workers{};
};

/// Prints a table of `most` tasks and workers at most; the others are one line each.
void print(const profile& times, std::FILE* to, std::size_t most = 20);
/// Prints the profile as docs/schemas/profile.json says.
void print_json(const profile& times, std::FILE* to);

/// The place to which CREEK_PROFILE sends the profile.
class profile_output {
 public:
  /// Returns nothing if the variable is unset or 0. Throws usage_error if its value is none of 0, 1
  /// and the name of a file that ends in .json, and error if that file cannot be opened.
  static std::optional<profile_output> from_environment();
  profile_output(profile_output&&) noexcept;
  profile_output& operator=(profile_output&&) = delete;
  ~profile_output();

  /// Writes a table to standard error, or JSON to the file. Throws error.
  void write(const profile& times);

 private:
  explicit profile_output(std::unique_ptr<atomic_file> file) noexcept;
  std::unique_ptr<atomic_file> file_;  ///< null: standard error
};

/// Says on standard error, if CREEK_PROFILE is set, that this backend has no profile. Throws as
/// from_environment().
void warn_of_no_profile(const char* backend);

}  // namespace creek

// SPDX-License-Identifier: Apache-2.0
// Places where exceptions of a job were thrown: the job, the function, the file and the key.
#pragma once

#include <concepts>
#include <creek/core/language.hpp>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

namespace creek::mapreduce {

/// Filled by runs with `options.failures`; what run() throws is unchanged. Any thread may use it.
class failure_log {
 public:
  /// Returns where the exception that is being handled left the job, such as
  /// `log_sessions::map, access.log, in the piece from byte 1048576` or
  /// `log_sessions::reduce, key "10.0.0.7"`; empty if it did not come from a job with this log.
  [[nodiscard]] std::string where() const;

  /// Notes the place of the exception that is being handled.
  void note(std::string place);

 private:
  mutable std::mutex mutex_;  // guards what follows
  std::vector<std::pair<std::exception_ptr, std::string>> places_;
};

namespace detail {

/// Notes `job::function, place` for the exception that is being handled, unless memory is short.
void note_failure(failure_log& log, const std::type_info& job, const char* function,
                  const std::string& place) noexcept;

/// Describes a piece of a file or, if `name` is empty, of other text.
[[nodiscard]] std::string describe_piece(std::string_view name, std::uint64_t offset);
/// Describes a piece of another input by its number.
[[nodiscard]] std::string describe_piece(std::size_t number);
/// Describes a key, shortened.
[[nodiscard]] std::string describe_key(std::string_view key);

template <class Key>
[[nodiscard]] std::string describe_key_of(const Key& key) {
  if constexpr (std::convertible_to<const Key&, std::string_view>) {
    return describe_key(std::string_view(key));
  } else if constexpr (std::integral<Key>) {
    return "key " + std::to_string(key);
  } else {
    return "a key";
  }
}

/// The job that a user wrote, for a job that the engine makes of it.
template <class Job>
struct named_job {
  using type = Job;
};

/// Calls `f()`; if it throws and there is a log, notes the place that `describe()` returns.
template <class Job, class F, class Describe>
decltype(auto) with_place(failure_log* log, const char* function, F&& f, Describe&& describe) {
  try {
    return f();
  } catch (...) {
    if (log != nullptr) {
      try {
        note_failure(*log, typeid(typename named_job<Job>::type), function, describe());
      } catch (...) {  // no memory for the description: rethrow what was thrown before
      }
    }
    throw;
  }
}

/// Calls the job's reduce().
template <class Job, class Key, class Values>
auto call_reduce(const Job& job, failure_log* log, const Key& key, const Values& values) {
  return with_place<Job>(
      log, "reduce", [&] { return job.reduce(key, values); }, [&] { return describe_key_of(key); });
}

}  // namespace detail
}  // namespace creek::mapreduce

// SPDX-License-Identifier: Apache-2.0
#include <creek/mapreduce/failures.hpp>

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace creek::mapreduce {

std::string failure_log::where() const {
  const std::exception_ptr now = std::current_exception();
  const std::lock_guard lock(mutex_);
  for (const auto& [thrown, place] : places_) {
    if (thrown == now) return place;
  }
  return {};
}

void failure_log::note(std::string place) {
  std::exception_ptr now = std::current_exception();
  const std::lock_guard lock(mutex_);
  for (const auto& [thrown, known] : places_) {
    if (thrown == now) return;  // the innermost place was noted first
  }
  places_.emplace_back(std::move(now), std::move(place));
}

namespace detail {

void note_failure(failure_log& log, const std::type_info& job, const char* function,
                  const std::string& place) noexcept {
  try {
    const std::unique_ptr<char, decltype(&std::free)> readable(
        abi::__cxa_demangle(job.name(), nullptr, nullptr, nullptr), &std::free);
    log.note(std::string(readable ? readable.get() : job.name()) + "::" + function + ", " + place);
  } catch (...) {  // no memory
  }
}

std::string describe_piece(std::string_view name, std::uint64_t offset) {
  return std::string(name) + (name.empty() ? "" : ", ") + "in the piece from byte " +
         std::to_string(offset);
}

std::string describe_piece(std::size_t number) {
  return "in piece " + std::to_string(number) + " of the input";
}

std::string describe_key(std::string_view key) {
  constexpr std::size_t max_bytes = 60;
  std::string text = "key \"";
  for (const char c : key.substr(0, max_bytes)) {
    const bool printable = static_cast<unsigned char>(c) >= ' ' && c != '\x7F';
    text += printable ? c : '?';
  }
  return text + (key.size() > max_bytes ? "...\"" : "\"");
}

}  // namespace detail
}  // namespace creek::mapreduce

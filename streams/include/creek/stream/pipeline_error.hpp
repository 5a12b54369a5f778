// SPDX-License-Identifier: Apache-2.0
// The exception of a pipeline.
#pragma once

#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>

#include <creek/core/language.hpp>

namespace creek {

/// An exception that left a stage: its name ("source", "stage 1" ..., "sink"), the number of the
/// item, from 0, and what the exception said. cause() is the exception itself.
class pipeline_error : public std::runtime_error {
 public:
  pipeline_error(const std::string& stage, std::size_t item, std::exception_ptr cause);
  [[nodiscard]] const std::string& stage() const noexcept { return stage_; }
  [[nodiscard]] std::size_t item() const noexcept { return item_; }
  [[nodiscard]] std::exception_ptr cause() const noexcept { return cause_; }

 private:
  std::string stage_;
  std::size_t item_;
  std::exception_ptr cause_;
};

}  // namespace creek

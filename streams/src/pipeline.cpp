// SPDX-License-Identifier: Apache-2.0
#include <creek/stream/pipeline.hpp>

#include <fmt/format.h>

#include "exception_text.hpp"

namespace creek {

pipeline_error::pipeline_error(const std::string& stage, std::size_t item, std::exception_ptr cause)
    : std::runtime_error(
          fmt::format("{}, item {}: {}", stage, item, stream::detail::exception_text(cause))),
      stage_(stage),
      item_(item),
      cause_(std::move(cause)) {}

/// The processes of a pipeline say which stage and item it was themselves.
void stream::detail::pipeline_builder::run() {
  const auto report = [this] {
    if (options_.report != nullptr && net_.has_run()) *options_.report = net_.report();
  };
  try {
    net_.run(options_.stop);
  } catch (const process_error& failed) {
    report();
    std::rethrow_exception(failed.cause());
  } catch (...) {
    report();
    throw;
  }
  report();
}

}  // namespace creek

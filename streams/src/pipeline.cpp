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
void stream::detail::pipeline_builder::run(const std::stop_token& stop) {
  try {
    net_.run(stop);
  } catch (const process_error& failed) {
    std::rethrow_exception(failed.cause());
  }
}

}  // namespace creek

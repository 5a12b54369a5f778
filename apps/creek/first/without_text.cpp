// SPDX-License-Identifier: Apache-2.0
// `creek wordcount --words unicode` in a tool that is built without creek::text.
#include <creek/core/error.hpp>

#include "wordcount/word_input.hpp"

namespace creek::tool {

rewriter rewriter_of(const word_choice& chosen) {
  if (chosen.words == word_kind::space) return {};
  throw usage_error("--words unicode is not in this build: build the target creek_tool");
}

}  // namespace creek::tool

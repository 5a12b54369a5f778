// SPDX-License-Identifier: Apache-2.0
#include "word_input.hpp"

#include <creek/core/error.hpp>

namespace creek::tool {

rewriter rewriter_of(const word_choice& chosen) {
  if (chosen.words == word_kind::space) return {};
  if (!text::has_unicode_words()) {
    throw usage_error(
        "--words unicode: this tool was built without utf8proc: install libutf8proc-dev (the name "
        "of "
        "the Debian package) and build creek again");
  }
  return [options = chosen.options](std::string_view from, std::string& to) {
    text::for_each_unicode_word(
        from,
        [&](std::string_view word) {
          to += word;
          to += ' ';
        },
        options);
  };
}

}  // namespace creek::tool

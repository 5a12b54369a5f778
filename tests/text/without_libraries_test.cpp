// SPDX-License-Identifier: Apache-2.0
// Says which package to install where a library was missing when creek was built.
#include <creek/text.hpp>

#include <gmock/gmock.h>

#include <string>

namespace creek::text {
namespace {

template <class F>
std::string refusal_of(F&& f) {
  try {
    f();
  } catch (const usage_error& e) {
    return e.what();
  }
  return "none";
}

TEST(WithoutLibraries, ErrorsNameThePackage) {
  EXPECT_FALSE(has_unicode_words() || has_patterns() || has_json_lines());
  EXPECT_THAT(refusal_of([] { for_each_unicode_word("a", [](std::string_view) {}); }),
              testing::HasSubstr("Unicode words need utf8proc"));
  EXPECT_THAT(refusal_of([] { const pattern made("a"); }), testing::HasSubstr("libre2-dev"));
  EXPECT_THAT(refusal_of([] { for_each_json_line({"1"}, [](const json_value&) {}); }),
              testing::HasSubstr("libsimdjson-dev"));
}

}  // namespace
}  // namespace creek::text

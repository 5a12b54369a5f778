// SPDX-License-Identifier: Apache-2.0
#include <creek/core/fnv.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

namespace creek {
namespace {

std::uint64_t hash_of(std::string_view text) {
  fnv1a hash;
  for (const char each : text) hash.add(static_cast<unsigned char>(each));
  return hash.value();
}

// The test vectors of the authors' page [FNV].
TEST(fnv, gives_the_published_values) {
  EXPECT_EQ(hash_of(""), 0xcbf29ce484222325U);
  EXPECT_EQ(hash_of("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(hash_of("foobar"), 0x85944171f73967e8U);
}

}  // namespace
}  // namespace creek

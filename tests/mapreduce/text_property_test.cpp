// SPDX-License-Identifier: Apache-2.0
// Random jobs against a sequential reference, with keys that are texts or tuples.
#include "random_jobs.hpp"

namespace creek::mapreduce {
namespace {

template <class Pair>
class MapReduceTextProperties : public ::testing::Test {};

using view_kind = std::pair<std::string_view, std::int64_t>;
using tuple_kind = std::pair<std::tuple<int, std::string>, std::uint64_t>;
// The string of the tuple serves a sanitizer as well as one alone.
using text_kinds = std::conditional_t<
    support::few_cases, ::testing::Types<view_kind, tuple_kind>,
    ::testing::Types<std::pair<std::string, std::uint64_t>, view_kind, tuple_kind>>;
TYPED_TEST_SUITE(MapReduceTextProperties, text_kinds);

TYPED_TEST(MapReduceTextProperties, AgreeWithASequentialReference) {
  check_on_workers<typename TypeParam::first_type, typename TypeParam::second_type>();
}

}  // namespace
}  // namespace creek::mapreduce

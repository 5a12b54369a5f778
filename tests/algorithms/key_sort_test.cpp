// SPDX-License-Identifier: Apache-2.0
// The vectorised sort of arithmetic keys: every type, both orders, NaNs and signed zeros; and the
// partition under it on every instruction set that this machine has.
#include <creek/tasking/parallel_sort.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <ranges>
#include <span>
#include <vector>

#include "key_partition.hpp"
#include "on_workers.hpp"
#include "sort_inputs.hpp"
#include "support/few_cases.hpp"

#include <hwy/highway.h>

namespace {

using creek::parallel_sort;
using creek::support::on_workers;
using creek::support::seeded;
using creek::support::sort_inputs;

template <class Key>
class key_sort : public ::testing::Test {
 public:
  // Random bits give both signs and all magnitudes, but no NaNs.
  static Key random_key(std::mt19937_64& random) {
    if constexpr (std::floating_point<Key>) {
      std::normal_distribution<double> mantissa;
      return static_cast<Key>(std::ldexp(mantissa(random), static_cast<int>(random() % 60) - 30));
    } else {
      return static_cast<Key>(random());
    }
  }
};
#ifdef CREEK_TEST_FEW_CASES  // every size, sign and kind
using key_types = ::testing::Types<std::int8_t, std::uint16_t, int, unsigned long, float, double>;
#else
using key_types = ::testing::Types<std::int8_t, std::uint8_t, char, std::int16_t, std::uint16_t,
                                   int, unsigned, long, unsigned long, long long,
                                   unsigned long long, float, double, char32_t, wchar_t>;
#endif
TYPED_TEST_SUITE(key_sort, key_types);

TYPED_TEST(key_sort, equals_the_serial_sort_in_both_orders) {
  using key = TypeParam;
  static_assert(creek::detail::key_sortable<typename std::vector<key>::iterator, std::less<>>);
  seeded random;
  on_workers([&] {
    for (std::size_t n :
         {0u, 1u, 2u, 3u, 17u, 127u, 128u, 129u, 1000u, 32'768u, 32'769u, 100'000u}) {
      std::vector<key> v(n);
      for (key& x : v) x = this->random_key(random.engine);
      auto expected = v;
      std::sort(expected.begin(), expected.end());
      parallel_sort(v);
      ASSERT_EQ(v, expected) << "n = " << n;
      std::shuffle(v.begin(), v.end(), random.engine);
      std::reverse(expected.begin(), expected.end());
      parallel_sort(v.begin(), v.end(), std::greater<key>{});
      ASSERT_EQ(v, expected) << "descending, n = " << n;
    }
  });
}

TYPED_TEST(key_sort, handles_patterns_and_extremes) {
  using key = TypeParam;
  using limits = std::numeric_limits<key>;
  seeded random;
  on_workers([&] {
    std::size_t shown = 0;
    for (auto& [name, values] :
         sort_inputs(creek::support::few_cases ? 40'000 : 70'000, random.engine)) {
      if (creek::support::few_cases && shown++ % 3 != 0) continue;
      std::vector<key> v(values.size());
      std::ranges::transform(values, v.begin(), [](std::int64_t x) { return static_cast<key>(x); });
      for (std::size_t i = 0; i < v.size(); i += 1000)
        v[i] = i % 2000 == 0 ? limits::lowest() : limits::max();
      auto expected = v;
      std::sort(expected.begin(), expected.end());
      parallel_sort(v);
      ASSERT_EQ(v, expected) << name;
    }
  });
}

template <class Key>
class float_sort : public ::testing::Test {};
using float_types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(float_sort, float_types);

TYPED_TEST(float_sort, puts_nans_last_and_keeps_the_bits_of_all) {
  using key = TypeParam;
  using bits = std::conditional_t<sizeof(key) == 4, std::uint32_t, std::uint64_t>;
  seeded random;
  on_workers([&] {
    for (std::size_t n : {5u, 100u, 1000u, 80'000u}) {
      for (bool descending : {false, true}) {
        std::vector<key> v(n);
        for (key& x : v) {  // any bits: NaNs of both signs and with payloads, infinities, denormals
          x = std::bit_cast<key>(static_cast<bits>(random.engine()));
          if (random.engine() % 8 == 0) x = std::numeric_limits<key>::infinity();
          if (random.engine() % 8 == 0) x = -std::numeric_limits<key>::infinity();
          if (random.engine() % 8 == 0) x = random.engine() % 2 == 0 ? key{0} : -key{0};
          if (random.engine() % 8 == 0) x = -std::numeric_limits<key>::quiet_NaN();
        }
        const auto sorted_bits = [](const std::vector<key>& keys) {
          std::vector<bits> b(keys.size());
          std::memcpy(b.data(), keys.data(), keys.size() * sizeof(key));
          std::ranges::sort(b);
          return b;
        };
        const auto before = sorted_bits(v);
        if (descending) {
          parallel_sort(v, std::greater{});
        } else {
          parallel_sort(v);
        }
        EXPECT_EQ(sorted_bits(v), before);
        const auto nan = std::ranges::find_if(v, [](key x) { return std::isnan(x); });
        EXPECT_TRUE(std::all_of(nan, v.end(), [](key x) { return std::isnan(x); }));
        EXPECT_TRUE(descending ? std::is_sorted(v.begin(), nan, std::greater{})
                               : std::is_sorted(v.begin(), nan));
      }
    }
  });
}

template <class Key>
class key_partition : public ::testing::Test {};
using partition_types = ::testing::Types<std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                                         std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(key_partition, partition_types);

template <class Key>
void check_partition(std::size_t n, Key range, bool or_equal, std::mt19937_64& random) {
  std::vector<Key> v(n + 2);
  for (Key& x : v) x = static_cast<Key>(random() % static_cast<std::uint64_t>(range));
  const auto guards = std::pair(v.front(), v.back());
  const auto pivot = static_cast<Key>(range / 2);
  auto expected = v;
  std::ranges::sort(std::span(expected).subspan(1, n));
  const auto left = [=](Key x) { return or_equal ? x <= pivot : x < pivot; };
  const std::size_t bound = creek::detail::partition_keys(v.data() + 1, n, pivot, or_equal);
  const auto keys = std::span(v).subspan(1, n);
  ASSERT_TRUE(std::ranges::all_of(keys.first(bound), left)) << n;
  ASSERT_TRUE(std::ranges::none_of(keys.subspan(bound), left)) << n;
  std::ranges::sort(keys);
  ASSERT_EQ(v, expected) << n;
  ASSERT_EQ(std::pair(v.front(), v.back()), guards) << n;
}

TYPED_TEST(key_partition, splits_at_every_length_on_every_instruction_set) {
  seeded random;
  const std::int64_t supported = hwy::SupportedTargets();
  for (std::int64_t rest = supported; rest != 0; rest &= rest - 1) {
    const std::int64_t target = rest & -rest;
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    for (std::size_t n = 0; n < 700; n += n < 40 ? 1 : 13) {
      for (int range : {2, 5, 30'000}) {
        check_partition<TypeParam>(n, static_cast<TypeParam>(range), false, random.engine);
        check_partition<TypeParam>(n, static_cast<TypeParam>(range), true, random.engine);
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(key_sort_choice, falls_back_to_comparisons_where_order_or_memory_differ) {
  using creek::detail::key_sortable;
  using creek::detail::stably_key_sortable;
  using ints = std::vector<int>::iterator;
  static_assert(key_sortable<ints, std::greater<int>> && key_sortable<int*, std::ranges::less>);
  static_assert(!key_sortable<ints, bool (*)(int, int)>);
  static_assert(!key_sortable<ints, std::less<long>>);
  static_assert(!key_sortable<std::reverse_iterator<ints>, std::less<>>);
  static_assert(!key_sortable<std::vector<bool>::iterator, std::less<>>);
  static_assert(!key_sortable<long double*, std::less<>>);
  static_assert(stably_key_sortable<int*, std::less<>> &&
                !stably_key_sortable<float*, std::less<>>);
  std::vector<bool> bits{true, false, true, false};
  parallel_sort(bits.begin(), bits.end());
  EXPECT_EQ(bits, (std::vector<bool>{false, false, true, true}));
}

}  // namespace

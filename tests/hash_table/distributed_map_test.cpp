// SPDX-License-Identifier: Apache-2.0
// The distributed hash table on every backend, against std::unordered_map: single keys, many keys,
// all entries, several callers at once, and misuse.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/tasking.hpp>

#include "hash_table/distributed_map.hpp"

namespace {

using creek::core_id;
using creek::hash_table::distributed_map;
using numbers = distributed_map<std::uint64_t, std::int64_t>;
using texts = distributed_map<std::string, std::string>;

struct setup {
  std::string backend;
  unsigned workers;
};

std::vector<setup> setups() {
  std::vector<setup> all;
  for (const std::string& backend : creek::backends()) {
    for (const unsigned workers : {1U, 3U}) all.push_back({backend, workers});
  }
  return all;
}

class DistributedMap : public testing::TestWithParam<setup> {
 protected:
  creek::runtime rt_{creek::scheduler_options{.workers = GetParam().workers}, GetParam().backend};
};
INSTANTIATE_TEST_SUITE_P(on, DistributedMap, testing::ValuesIn(setups()), [](const auto& setting) {
  return setting.param.backend + "_" + std::to_string(setting.param.workers);
});

TEST_P(DistributedMap, DoesWhatAMapDoes) {
  rt_.run([] {
    const numbers map;
    EXPECT_EQ(map.shards(), static_cast<int>(creek::worker_count()));
    EXPECT_EQ(map.get(1), std::nullopt);
    EXPECT_TRUE(map.put(1, 10));
    EXPECT_FALSE(map.put(1, 11));
    EXPECT_EQ(map.get(1), 11);
    EXPECT_EQ(map.update(1, [](std::int64_t& v) { return v += 5; }), 16);
    EXPECT_EQ(map.update(2, [](std::int64_t& v) { return v -= 1; }), -1) << "begins with zero";
    EXPECT_EQ(map.size(), 2U);
    EXPECT_TRUE(map.erase(1));
    EXPECT_FALSE(map.erase(1));
    EXPECT_EQ(map.size(), 1U);

    EXPECT_TRUE(map.async_put(3, 30).get());
    EXPECT_EQ(map.async_get(3).get(), 30);
    EXPECT_EQ(map.async_update(3, [](std::int64_t& v) { return ++v; }).get(), 31);
    EXPECT_TRUE(map.async_erase(3).get());
    map.post_put(4, 40);
    map.post_update(4, [](std::int64_t& v) { ++v; });
    EXPECT_EQ(map.get(4), 41) << "in the order of the caller";
    map.post_erase(4);
    EXPECT_EQ(map.get(4), std::nullopt);
  });
}

TEST_P(DistributedMap, AgreesWithAMapOnRandomOperations) {
  rt_.run([] {
    const numbers map(5);
    EXPECT_EQ(map.shards(), 5);
    std::unordered_map<std::uint64_t, std::int64_t> expected;
    std::uint64_t random = 1;
    const auto next = [&random](std::uint64_t below) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      return (random >> 33) % below;
    };
    for (int i = 0; i < 2000; ++i) {
      const std::uint64_t key = next(100);
      const auto value = static_cast<std::int64_t>(next(1000));
      switch (next(6)) {
        case 0:
          map.post_put(key, value);
          expected[key] = value;
          break;
        case 1:
          ASSERT_EQ(map.put(key, value), expected.insert_or_assign(key, value).second);
          break;
        case 2:
          ASSERT_EQ(map.erase(key), expected.erase(key) > 0);
          break;
        case 3: {
          const auto found = expected.find(key);
          ASSERT_EQ(map.get(key),
                    found == expected.end() ? std::nullopt : std::optional(found->second));
          break;
        }
        default:
          map.post_update(key, [value](std::int64_t& v) { v = 3 * v + value; });
          expected[key] = 3 * expected[key] + value;
      }
    }
    map.barrier();
    EXPECT_EQ(map.size(), expected.size());
    std::size_t gathered = 0;
    for (const auto& [key, value] : map.gather()) {
      ++gathered;
      EXPECT_EQ(expected.at(key), value);
    }
    EXPECT_EQ(gathered, expected.size());
    EXPECT_TRUE(map.verify());
  });
}

/// A key whose hash a test can change.
struct salted_key {
  std::uint64_t number = 0;
  static inline std::uint64_t salt = 0;
  friend bool operator==(const salted_key&, const salted_key&) = default;
};

}  // namespace

template <>
struct std::hash<salted_key> {
  std::size_t operator()(const salted_key& key) const noexcept {
    return key.number ^ salted_key::salt;
  }
};

namespace {

TEST_P(DistributedMap, VerifyFindsEntriesInOtherShards) {
  rt_.run([] {
    const distributed_map<salted_key, int> map(3);
    for (std::uint64_t number = 0; number < 100; ++number) map.put({number}, 1);
    EXPECT_TRUE(map.verify());
    salted_key::salt = 1;
    EXPECT_FALSE(map.verify());
    salted_key::salt = 0;
  });
}

TEST_P(DistributedMap, TakesManyKeysAtOnceAndKeepsTheirOrder) {
  rt_.run([] {
    const texts map(4);
    std::vector<std::string> keys;
    std::vector<texts::entry> entries;
    for (int i = 0; i < 200; ++i) {
      keys.push_back("key " + std::to_string(i));
      entries.push_back({keys.back(), std::to_string(i)});
    }
    const std::vector<bool> made = map.put_all(entries);
    EXPECT_EQ(std::count(made.begin(), made.end(), true), 200);
    map.post_put_all(std::vector<texts::entry>{{"key 7", "seven"}, {"key 300", "new"}});
    keys.push_back("key 300");
    keys.push_back("nothing");
    auto found = map.async_get_all(keys).get();
    ASSERT_EQ(found.size(), 202U);
    EXPECT_EQ(found[6], "6");
    EXPECT_EQ(found[7], "seven");
    EXPECT_EQ(found[199], "199");
    EXPECT_EQ(found[200], "new");
    EXPECT_EQ(found[201], std::nullopt);

    const std::vector<std::size_t> lengths = map.update_all(keys, [](std::string& text) {
      text += "!";
      return text.size();
    });
    EXPECT_EQ(lengths[6], 2U);
    EXPECT_EQ(lengths[7], 6U);
    EXPECT_EQ(lengths[201], 1U);
    map.update_all(keys, [](std::string& text) { text += "?"; });
    map.post_update_all(keys, [](std::string& text) { text += "."; });
    EXPECT_EQ(map.get("key 7"), "seven!?.");

    map.post_erase_all(std::vector<std::string>{"key 0", "key 1"});
    const std::vector<bool> gone =
        map.erase_all(std::vector<std::string>{"key 0", "key 2", "key 1", "key 3"});
    EXPECT_EQ(gone, (std::vector<bool>{false, true, false, true}));
    EXPECT_TRUE(map.get_all({}).empty());
    EXPECT_EQ(map.size(), 198U);
  });
}

TEST_P(DistributedMap, CountsEachKeyOfABatchAsOftenAsItIsThere) {
  rt_.run([] {
    const numbers map;
    const std::vector<std::uint64_t> keys{1, 2, 1, 1, 2, 3};
    const auto counts = map.update_all(keys, [](std::int64_t& v) { return ++v; });
    EXPECT_EQ(counts, (std::vector<std::int64_t>{1, 1, 2, 3, 2, 1}));
  });
}

TEST_P(DistributedMap, VisitsEveryEntry) {
  rt_.run([] {
    const numbers map;
    for (std::uint64_t key = 0; key < 50; ++key) map.post_put(key, static_cast<std::int64_t>(key));
    map.barrier();
    map.for_each([](std::uint64_t key, std::int64_t& value) {
      if (key % 2 == 0) value = -value;
    });
    map.async_for_each([](std::uint64_t, std::int64_t& value) { value *= 10; }).get();
    std::map<std::uint64_t, std::int64_t> all;
    for (const auto& [key, value] : map.gather()) all[key] = value;
    ASSERT_EQ(all.size(), 50U);
    EXPECT_EQ(all[4], -40);
    EXPECT_EQ(all[5], 50);
  });
}

TEST_P(DistributedMap, LosesNoUpdateOfSeveralCallers) {
  rt_.run([] {
    const numbers map(7);
    constexpr int callers = 4, rounds = 50;
    const auto add = [](std::int64_t& value) { ++value; };
    const std::vector<std::uint64_t> keys{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    creek::task_group group;
    for (int caller = 0; caller < callers; ++caller) {
      group.spawn([=] {
        for (int i = 0; i < rounds; ++i) {
          map.post_update(static_cast<std::uint64_t>(i % 10), add);
          map.post_update_all(keys, add);
          map.update_all(keys, add);
        }
        map.barrier();
      });
    }
    group.wait();
    std::int64_t sum = 0;
    for (const auto& each : map.gather()) sum += each.value;
    EXPECT_EQ(sum, callers * rounds * 21);
    EXPECT_EQ(map.size(), 10U);
  });
}

TEST_P(DistributedMap, BringsExceptionsBackAndGoesOn) {
  rt_.run([] {
    const numbers map(3);
    const auto refuse = [](std::int64_t& value) -> std::int64_t {
      if (++value == 2) throw std::runtime_error("two");
      return value;
    };
    EXPECT_EQ(map.update(1, refuse), 1);
    EXPECT_THROW(map.update(1, refuse), std::runtime_error);
    EXPECT_THROW(map.async_update_all(std::vector<std::uint64_t>{5, 6, 5}, refuse).get(),
                 std::runtime_error);
    EXPECT_EQ(map.get(1), 2);
    EXPECT_EQ(map.get(5), 2);
    EXPECT_EQ(map.get(6), 1);
    EXPECT_THROW(map.for_each([](std::uint64_t, std::int64_t&) { throw std::logic_error("no"); }),
                 std::logic_error);
  });
}

TEST_P(DistributedMap, PutsEachKeyWhereItSays) {
  rt_.run([] {
    const numbers map(std::vector<core_id>{core_id{0}, core_id{0}});
    EXPECT_EQ(map.home(17), core_id{0});
    const numbers spread;
    const bool stays = GetParam().backend != "tbb";  // on that backend a worker is just a number
    std::vector<int> keys_at(creek::worker_count());
    for (std::uint64_t key = 0; key < 200; ++key) {
      const int ran = spread.update(key, [](std::int64_t&) { return creek::this_worker(); });
      const core_id home = spread.home(key);
      if (stays) {
        EXPECT_EQ(core_id{ran}, home);
      }
      ++keys_at.at(static_cast<std::size_t>(home.value));
    }
    for (const int keys : keys_at) EXPECT_GT(keys, 20);
  });
}

TEST_P(DistributedMap, IsUsedFromThreadsOutside) {
  const numbers map = rt_.run([] { return numbers(3); });
  std::thread outside([&] {
    for (std::uint64_t key = 0; key < 40; ++key) {
      map.post_put(key, 1);
      map.update(key, [](std::int64_t& value) { ++value; });
    }
    EXPECT_EQ(map.size(), 40U);
    const std::vector<std::uint64_t> keys{39, 40, 0};
    EXPECT_EQ(map.get_all(keys), (std::vector<std::optional<std::int64_t>>{2, {}, 2}));
    EXPECT_EQ(map.update_all(keys, [](std::int64_t& value) { return ++value; }),
              (std::vector<std::int64_t>{3, 1, 3}));
    EXPECT_EQ(map.erase_all(keys), (std::vector<bool>{true, true, true}));
    map.barrier();
    EXPECT_EQ(map.gather().size(), 38U);
  });
  outside.join();
  EXPECT_EQ(map.get(38), 2);
}

TEST_P(DistributedMap, RefusesBadPlacesAndUseAfterTheEnd) {
  std::optional<numbers> left;
  {
    creek::runtime own(creek::scheduler_options{.workers = 1}, GetParam().backend);
    own.run([&] {
      EXPECT_THROW(numbers(-1), creek::usage_error);
      EXPECT_THROW(numbers(std::vector<core_id>{}), creek::usage_error);
      EXPECT_THROW(numbers(std::vector<core_id>{core_id{0}, core_id{1}}), creek::usage_error);
      left.emplace(2);
      left->put(1, 1);
    });
  }
  EXPECT_THROW(left->get(1), creek::usage_error);
  EXPECT_THROW(left->post_put(1, 2), creek::usage_error);
  EXPECT_THROW(left->size(), creek::usage_error);
  EXPECT_THROW(numbers(), creek::usage_error) << "no runtime here";
}

TEST_P(DistributedMap, SpreadsKeysThatWereChosenToHaveOneHash) {
  if (GetParam().workers == 1) GTEST_SKIP() << "one home";
  rt_.run([] {
    const distributed_map<std::string, int> map;
    const std::uint64_t factor = creek::fixed_hash_factors.low;
    std::vector<int> at_home(creek::worker_count());
    for (int i = 0; i < 3000; ++i) {
      std::string key(16, '\0');
      std::memcpy(key.data(), &factor, sizeof factor);
      std::memcpy(key.data() + 8, &i, sizeof i);
      ++at_home[map.home(key).index()];
    }
    for (const int keys : at_home) EXPECT_GT(keys, 300);
  });
}

TEST(Homes, RepeatOnTheSimulatedChip) {
  creek::runtime rt(creek::scheduler_options{.workers = 48}, "scc");
  rt.run([] {
    const numbers map;
    const int expected[] = {42, 3, 23, 16, 41, 20, 14, 20, 39, 4, 38, 26};
    for (std::uint64_t key = 0; key < std::size(expected); ++key) {
      EXPECT_EQ(map.home(key).value, expected[key]) << key;
    }
  });
}

}  // namespace

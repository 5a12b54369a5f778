// SPDX-License-Identifier: Apache-2.0
// Values of JSON lines, against Python's module json.
#include <creek/mapreduce.hpp>
#include <creek/text.hpp>

#include <gmock/gmock.h>

#include <bit>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "oracle.hpp"
#include "support/seed.hpp"
#include "support/temporary_folder.hpp"

namespace creek::text {
namespace {

using mapreduce::malformed_text;
using mapreduce::text_units;
using strings = std::vector<std::string>;
using testing::HasSubstr;

std::string hex(std::string_view bytes) {
  std::string digits;
  for (const char c : bytes) {
    char two[3];
    std::snprintf(two, sizeof(two), "%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    digits += two;
  }
  return digits;
}

/// Writes a value as oracle.py does.
std::string canonical(const json_value& value) {
  std::string made;
  switch (value.type()) {
    case json_type::null:
      return "n";
    case json_type::boolean:
      return value.boolean() ? "t" : "f";
    case json_type::string:
      return "s" + hex(value.string());
    case json_type::number:
      try {
        return "i" + std::to_string(value.integer());
      } catch (const malformed_text&) {
        char digits[20];
        std::snprintf(digits, sizeof(digits), "d%016" PRIx64,
                      std::bit_cast<std::uint64_t>(value.number()));
        return digits;
      }
    case json_type::array:
      value.for_each_element(
          [&](const json_value& one) { made += (made.empty() ? "" : " ") + canonical(one); });
      return "[" + made + "]";
    case json_type::object:
      value.for_each_member([&](std::string_view name, const json_value& one) {
        made += (made.empty() ? "" : " ") + hex(name) + ":" + canonical(one);
      });
      return "{" + made + "}";
  }
  return made;
}

class JsonLines : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_json_lines()) GTEST_SKIP() << "built without simdjson";
  }
};

TEST_F(JsonLines, AgreeWithPython) {
  const std::uint64_t seed = support::chosen_seed() % 1'000'000'000;
  SCOPED_TRACE(testing::Message() << "CREEK_TEST_SEED=" << seed);
  std::string all = "\xEF\xBB\xBF";
  strings expected, made;
  std::size_t damaged = 0;
  for (const auto& one_case : oracle("json", seed)) {
    const std::string& kind = one_case[0];
    const std::string &value = one_case[2], line = from_hex(one_case[1]);
    all += line + (damaged % 2 == 0 ? "\n" : "\r\n \n\n");
    if (kind == "valid") {
      expected.push_back(value);
      for_each_json_line({line},
                         [&](const json_value& one) { EXPECT_EQ(canonical(one), value) << line; });
    } else {
      ++damaged;
      EXPECT_THROW(for_each_json_line({line}, [](const json_value&) {}), malformed_text) << line;
    }
  }
  EXPECT_GT(damaged, 10u);
  const std::size_t skipped =
      for_each_json_line({all}, [&](const json_value& one) { made.push_back(canonical(one)); },
                         {.skip_damaged = true});
  EXPECT_EQ(made, expected);
  EXPECT_EQ(skipped, damaged);
}

TEST_F(JsonLines, MembersAreFoundByName) {
  std::size_t lines = 0;
  for_each_json_line({R"({"a": {"b": [1, 2.5]}, "c": null, "a": 3, "": "x"})"},
                     [&](const json_value& one) {
                       ++lines;
                       EXPECT_EQ(canonical(one["a"]["b"]), "[i1 d4004000000000000]");
                       EXPECT_TRUE(one["c"].is_null());
                       EXPECT_FALSE(one.find("d"));
                       EXPECT_EQ(one[""].string(), "x");
                       EXPECT_EQ(one["a"].find("b")->type(), json_type::array);
                     });
  EXPECT_EQ(lines, 1u);
}

struct sum_of_prices {
  using key_type = std::string;
  using value_type = std::int64_t;
  template <class Emit>
  static void map(const mapreduce::text_split& split, Emit& emit) {
    for_each_json_line(split, [&](const json_value& sale) {
      emit(std::string(sale["name"].string()), sale["price"].integer());
    });
  }
  static void combine(std::int64_t& into, std::int64_t from) { into += from; }
};

TEST_F(JsonLines, SumsDoNotDependOnCutsAndWorkers) {
  std::string text;
  std::map<std::string, std::int64_t> expected;
  for (int i = 0; i < 2000; ++i) {
    const std::string name = "n\u00E4me " + std::to_string(i % 97);
    text += R"({"name": ")" + name + R"(", "price": )" + std::to_string(i) + "}\n";
    expected[name] += i;
  }
  for (const unsigned workers : {1u, 2u, 5u}) {
    runtime rt(scheduler_options{.workers = workers});
    for (const std::size_t split : {1u, 37u, 1000u, 1u << 20}) {
      mapreduce::text_view from(text, split, text_units::lines);
      std::map<std::string, std::int64_t> sums;
      for (const auto& [name, sum] :
           rt.run([&] { return mapreduce::run(sum_of_prices{}, from); })) {
        sums[name] = sum;
      }
      EXPECT_EQ(sums, expected) << split << ' ' << workers;
    }
  }
}

TEST_F(JsonLines, FaultsNameFileAndLine) {
  const support::temporary_folder folder;
  const std::string name = folder / "sales";
  const auto fault = [&](const std::string& line, std::size_t split) {
    std::ofstream(name) << R"({"name": "a", "price": 1})"
                           "\n\n"
                        << line << "\n"
                        << line << "\n";
    mapreduce::text_files from({name}, {.split = split, .units = text_units::lines});
    try {
      (void)mapreduce::run(sum_of_prices{}, from);
    } catch (const error& e) {
      return std::string(e.what()).substr(name.size());
    }
    return std::string("none");
  };
  for (const std::size_t split : {1u, 50u, 1u << 20}) {
    EXPECT_THAT(fault(R"({"name": "a", "price": 1)", split), testing::StartsWith(":3: "));
    EXPECT_THAT(fault("{\"name\": \"\xFF\"}", split),
                HasSubstr(":3: The input is not valid UTF-8"));
    EXPECT_THAT(fault(R"({"name": "a"})", split), HasSubstr(":3: no member 'price'"));
    EXPECT_THAT(fault(R"({"name": 5, "price": 1})", split),
                HasSubstr(":3: a number instead of a string"));
    EXPECT_THAT(fault(R"({"name": "a", "price": 1.5})", split),
                HasSubstr(":3: a number instead of an integer of 64 bits"));
    EXPECT_THAT(fault("[]", split), HasSubstr(":3: an array instead of an object"));
  }
}

}  // namespace
}  // namespace creek::text

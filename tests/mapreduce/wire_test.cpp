// SPDX-License-Identifier: Apache-2.0
// Keys and values as bytes and back.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <creek/core/messages/wire.hpp>
#include <creek/mapreduce/jobs/line_filter.hpp>
#include <creek/mapreduce/tables/pair_buffer.hpp>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

namespace creek::mapreduce {
namespace {

template <class T>
void expect_same(const T& object) {
  std::vector<std::byte> bytes(3);  // so that nothing is aligned
  wire<T>::put(bytes, object);
  wire<T>::put(bytes, object);
  const std::byte* at = bytes.data() + 3;
  EXPECT_EQ(wire<T>::get(at), object);
  EXPECT_EQ(wire<T>::get(at), object);
  EXPECT_EQ(at, bytes.data() + bytes.size());
}

struct point {
  double x, y;
  friend bool operator==(const point&, const point&) = default;
};

TEST(Wire, WhatWasWrittenIsRead) {
  expect_same<std::uint8_t>(200);
  expect_same(-5);
  expect_same(2.5);
  expect_same(point{1, -2});
  expect_same(std::string());
  expect_same(std::string(70000, 'x') + '\0' + "y");
  expect_same(std::string_view("view"));
  expect_same(std::pair(1ul, std::string("one")));
  expect_same(std::tuple(std::string_view("a"), 'b', point{3, 4}));
  expect_same(std::array{std::string_view("p"), std::string_view("")});
  expect_same(std::vector{std::string("s"), std::string("t")});
  expect_same(std::vector<double>{});
  expect_same(std::set{3, 1, 2});
  expect_same(std::map<std::string, std::vector<int>>{{"k", {1, 2}}, {"", {}}});
  using one_of_three = std::variant<int, std::string, int>;
  expect_same(one_of_three(std::in_place_index<0>, 5));
  expect_same(one_of_three("text"));
  expect_same(one_of_three(std::in_place_index<2>, -5));
  expect_same(std::vector<std::variant<std::monostate, point>>{{}, point{1, 2}});
  expect_same(std::variant<std::string_view, char>("view"));
}

TEST(Wire, TakesNothingThatPointsElsewhere) {
  static_assert(sendable<std::vector<std::pair<int, std::string>>>);
  static_assert(!sendable<const char*>);
  static_assert(!sendable<std::unique_ptr<int>>);
  static_assert(!sendable<std::vector<std::unique_ptr<int>>>);
  static_assert(!sendable<std::pair<int, int*>>);
  static_assert(!sendable<std::variant<int, std::span<const int>>>);
  static_assert(!sendable<std::span<const int>>);
}

TEST(Wire, FilteredLinesAreCopied) {
  std::vector<std::byte> bytes;
  {
    const std::string text = "one\ntwo";
    filtered_piece piece{5, 2, {{std::string_view(text).substr(0, 4), 3}, {"two", 4}}, {}};
    wire<filtered_piece>::put(bytes, piece);
    wire<filtered_piece>::put(bytes, filtered_piece{7, 0, {}, {}});
  }
  const std::byte* at = bytes.data();
  const auto piece = wire<filtered_piece>::get(at), none = wire<filtered_piece>::get(at);
  EXPECT_EQ(at, bytes.data() + bytes.size());
  std::ranges::fill(bytes, std::byte{0});
  EXPECT_EQ(piece.seen, 5u);
  EXPECT_EQ(piece.found, 2u);
  ASSERT_EQ(piece.lines.size(), 2u);
  EXPECT_EQ(piece.lines[0].text, "one\n");
  EXPECT_EQ(piece.lines[0].number, 3u);
  EXPECT_EQ(piece.lines[1].text, "two");
  EXPECT_EQ(none.seen, 7u);
  EXPECT_TRUE(none.lines.empty());
}

TEST(PairBuffer, GivesEachPartitionInOrder) {
  pair_buffer<std::string_view, int> buffer(3);
  const std::string words = "alpha beta gamma";
  buffer.add(2, std::string_view(words).substr(0, 5), 1);
  buffer.add(0, std::string_view(words).substr(6, 4), 2);
  buffer.add(2, std::string_view(words).substr(11, 5), 3);
  EXPECT_EQ(buffer.pairs(), 3u);
  EXPECT_EQ(buffer.bytes(1), 0u);
  EXPECT_EQ(buffer.bytes(0) + buffer.bytes(2), buffer.bytes());
  EXPECT_TRUE(buffer.message(1).empty());
  const auto message = buffer.message(2);
  EXPECT_EQ(message.size(), buffer.bytes(2));
  std::vector<emitted<std::string_view, int>> got;
  get_pairs(message, got);
  const auto direct = buffer.pairs_of(2);
  ASSERT_EQ(got.size(), 2u);
  ASSERT_EQ(direct.size(), 2u);
  EXPECT_EQ(got[0].key, "alpha");
  EXPECT_EQ(got[1].key, "gamma");
  EXPECT_EQ(got[1].value, 3);
  EXPECT_EQ(direct[1].key, "gamma");
}

}  // namespace
}  // namespace creek::mapreduce

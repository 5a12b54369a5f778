// SPDX-License-Identifier: Apache-2.0
// Groups of objects: for every shape and size, a call reaches each member once, merges in order,
// and returns exceptions.
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "setups.hpp"

namespace {

using namespace conformance;
using creek::core_id;
using creek::group;
using creek::group_shape;
using creek::make_group;

class RemoteGroup : public Conformance {
 protected:
  std::vector<core_id> cores(int count) const {
    std::vector<core_id> all;
    for (int i = 0; i < count; ++i) {
      all.push_back(core_id{i * 7 % static_cast<int>(GetParam().workers)});
    }
    return all;
  }
};
CONFORMANCE(RemoteGroup);

const std::vector<group_shape> shapes{
    group_shape::tree(), group_shape::tree(1), group_shape::tree(2), group_shape::binomial(),
    group_shape::flat(), group_shape::chain(), group_shape::mesh()};

struct member {
  int number = -1;
  int steps = 0;
  void step() { ++steps; }
  void add(int by) { steps += by; }
  int get() const { return number; }
};

/// A group in which each member knows its number.
group<member> numbered(const std::vector<core_id>& cores, group_shape shape) {
  const group<member> made = make_group<member>(cores, shape);
  for (int i = 0; i < made.size(); ++i) {
    made[i].call([](member& m, int number) { m.number = number; }, i);
  }
  return made;
}

TEST_P(RemoteGroup, CallsEachMemberOnceInEveryShape) {
  in_each_runtime([&] {
    for (const group_shape& shape : shapes) {
      for (const int size : {1, 2, 6, 13}) {
        const group<member> all = numbered(cores(size), shape);
        all.step(&member::step);
        all.async_step(&member::add, 2).get();
        EXPECT_EQ(all.map(&member::steps), std::vector<int>(static_cast<std::size_t>(size), 3));
        std::vector<int> expected;
        for (int i = 0; i < size; ++i) expected.push_back(i);
        EXPECT_EQ(all.map(&member::get), expected);
        EXPECT_EQ(all.reduce(&member::get, std::plus{}), size * (size - 1) / 2);
        const auto written = [](member& m) { return std::to_string(m.number) + ","; };
        if (shape.form != group_shape::kind::mesh) {
          std::string in_order;
          for (int i = 0; i < size; ++i) in_order += std::to_string(i) + ",";
          EXPECT_EQ(all.reduce(written, std::plus{}), in_order);
        }
        all.broadcast(member{4, 1});
        all.barrier();
        for (const member& each : all.gather()) EXPECT_EQ(each.number + each.steps, 5);
      }
    }
  });
}

TEST_P(RemoteGroup, BringsBackTheFirstException) {
  in_each_runtime([&] {
    const group<member> all = numbered(cores(9), group_shape::tree(2));
    const auto refuse = [](member& m) {
      ++m.steps;
      if (m.number % 3 == 2) throw failure{m.number};
      return m.number;
    };
    EXPECT_EQ(failure_of([&] { all.step(refuse); }), 2);
    EXPECT_EQ(failure_of([&] { all.async_step(refuse).get(); }), 2);
    EXPECT_EQ(failure_of([&] { all.map(refuse); }), 2);
    EXPECT_EQ(failure_of([&] { all.reduce(refuse, std::plus{}); }), 2);
    EXPECT_EQ(all.reduce(&member::steps, std::plus{}), 4 * 9) << "all were called all the same";
  });
}

TEST_P(RemoteGroup, IsUsedFromInsideMembersOfOthers) {
  in_each_runtime([&] {
    const group<member> inner = numbered(cores(5), {});
    const group<member> outer = numbered(cores(3), {});
    const auto nested = [&inner](member& m) {
      inner.step(&member::step);
      return m.number + inner.reduce(&member::get, std::plus{});
    };
    EXPECT_EQ(outer.map(nested), (std::vector<int>{10, 11, 12}));
    EXPECT_EQ(inner.map(&member::steps), std::vector<int>(5, 3));
  });
}

TEST_P(RemoteGroup, RefusesToWaitForItself) {
  in_each_runtime([&] {
    const group<member> all = numbered(cores(4), group_shape::chain());
    const auto again = [&all](member& m) {
      if (m.number == 1) all.step(&member::step);
    };
    EXPECT_THROW(all.step(again), creek::usage_error);
    EXPECT_EQ(all.map(&member::steps), (std::vector<int>{1, 0, 1, 1}));
  });
}

TEST_P(RemoteGroup, RefusesWhatCannotBe) {
  in_each_runtime([&] {
    EXPECT_THROW((void)make_group<member>(std::vector<core_id>{}), creek::usage_error);
    EXPECT_THROW((void)make_group<member>(cores(2), group_shape::tree(0)), creek::usage_error);
    EXPECT_THROW((void)make_group<member>(std::vector{core_id{999}}), creek::usage_error);
    EXPECT_THROW(group<member>{}.barrier(), creek::usage_error);
    const group<member> all = make_group<member>();
    EXPECT_EQ(all.size(), static_cast<int>(GetParam().workers));
    EXPECT_THROW(all[all.size()].call(&member::get), creek::usage_error);
    all[0].destroy();
    EXPECT_THROW(all.step(&member::step), creek::usage_error);
  });
}

TEST_P(RemoteGroup, EndsWithItsLastHandle) {
  std::atomic<int> alive{0};
  in_each_runtime([&] {
    const auto cores = this->cores(6);
    group<counted> all = make_group<counted>(cores, {}, std::ref(alive));
    const group<counted> copy = all;
    all = {};
    copy.barrier();
    EXPECT_EQ(alive.load(), 6);
  });
  EXPECT_EQ(alive.load(), 0);
}

}  // namespace

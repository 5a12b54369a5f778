// SPDX-License-Identifier: Apache-2.0
// Cases of objects on ranks for any communicator: each rank runs every case.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/core/objects/object_space.hpp>

namespace creek::object_space_cases {

struct account {
  std::string owner;
  long balance = 0;
  std::vector<long> history;

  long deposit(long amount) {
    history.push_back(amount);
    return balance += amount;
  }
  [[nodiscard]] const std::string& name() const noexcept { return owner; }
  void fail(int kind) {
    if (kind == 0) throw usage_error("do not do that");
    if (kind == 1) throw error(ENOENT, "input.txt");
    if (kind == 2) throw std::out_of_range("too far");
    throw kind;
  }
};

inline void charge(account& one, long fee) {
  one.balance -= fee;
}

inline void calls_objects(object_space& space) {
  for (int home = 0; home < space.size(); ++home) {
    const auto a = space.make_on<account>(home, "Ada", 5);
    EXPECT_TRUE(a);
    EXPECT_EQ(a.rank(), home);
    EXPECT_EQ(a.call<&account::deposit>(10), 15);
    EXPECT_EQ(a.call<&account::name>(), "Ada");
    EXPECT_EQ(a.call<&account::balance>(), 15);
    a.call<&charge>(3);
    const auto doubled = [](account& one, int times) { return one.balance *= times; };
    EXPECT_EQ(a.call<doubled>(2), 24);
    auto first = a.async<&account::deposit>(1), second = a.async<&account::deposit>(2);
    EXPECT_EQ(second.get(), 27);
    EXPECT_FALSE(second.valid());
    EXPECT_EQ(first.get(), 25);
    a.destroy();
  }
}

/// Calls of one rank begin in the order in which they were made, whatever their kind and length.
inline void keeps_the_order_of_calls(object_space& space) {
  const int home = (space.rank() + 1) % space.size();
  const auto a = space.make_on<std::vector<std::string>>(home);
  constexpr auto add = [](std::vector<std::string>& all, const std::string& one) {
    all.push_back(one);
  };
  std::vector<std::string> expected;
  std::vector<async_result<void>> begun;
  for (std::size_t i = 0; i < 120; ++i) {
    // Some are longer than a part of a message.
    expected.emplace_back(i % 40 == 7 ? 100'000 : i, static_cast<char>('a' + i % 26));
    if (i % 3 == 0) begun.push_back(a.async<add>(expected.back()));
    if (i % 3 == 1) a.post<add>(expected.back());
    if (i % 3 == 2) a.call<add>(expected.back());
  }
  constexpr auto copy = [](const std::vector<std::string>& all) { return all; };
  EXPECT_TRUE(a.call<copy>() == expected);
  for (auto& each : begun) each.get();
}

using table = std::map<std::string, std::vector<int>>;

struct shape {
  std::string name;
  std::optional<double> size;
  std::array<std::int16_t, 3> colour{};
  template <class Archive>
  void serialize(Archive& archive) {
    archive(name, size, colour);
  }
  bool operator==(const shape&) const = default;
};

inline std::tuple<table, shape, std::size_t> give_back(const table& one, shape two,
                                                       std::string_view text,
                                                       const std::vector<bool>& bits) {
  return {one, std::move(two), text.size() + bits.size()};
}

inline void sends_arguments_of_all_kinds(object_space& space) {
  const table one{{"a", {1, 2}}, {"", {}}};
  const shape two{"round", 2.5, {1, 2, 3}};
  for (int rank = 0; rank < space.size(); ++rank) {
    const auto [t, s, n] =
        space.call_on<&give_back>(rank, one, two, "four", std::vector{true, false});
    EXPECT_EQ(t, one);
    EXPECT_EQ(s, two);
    EXPECT_EQ(n, 6u);
    std::vector<double> numbers(300'000);
    std::iota(numbers.begin(), numbers.end(), 0.5);
    constexpr auto reversed = [](std::vector<double> all) {
      return std::vector<double>(all.rbegin(), all.rend());
    };
    auto back = space.call_on<reversed>(rank, numbers);
    EXPECT_TRUE(std::equal(back.rbegin(), back.rend(), numbers.begin(), numbers.end()));
  }
}

inline std::string filled(std::size_t size, int seed) {
  std::string made(size, 'x');
  for (std::size_t i = 0; i < size; ++i)
    made[i] = static_cast<char>('a' + seed + static_cast<int>(i % 13));
  return made;
}

/// Lengths on both sides of those from which on arguments are sent without copies.
inline const std::vector<std::size_t> long_sizes{(32u << 10) - 1, 32u << 10, (64u << 10) - 1,
                                                 64u << 10, 200'001};

/// Throws when it is read, between arguments that have arrived.
struct unreadable {
  template <class Archive>
  void serialize(Archive& archive) {
    int value = 1;
    archive(value);
    if (Archive::is_loading::value) throw std::runtime_error("not to be read");
  }
};

struct archive_of_texts {
  std::vector<std::string> all;
  void add(std::string text) { all.push_back(std::move(text)); }
  std::size_t add_view(std::string_view text) {
    all.emplace_back(text);
    return all.size();
  }
  std::vector<long> add_three(const std::string& a, const std::vector<long>& numbers, table map,
                              std::string_view b) {
    all.push_back(a);
    all.emplace_back(b);
    std::vector<long> sums = numbers;
    for (long& each : sums) each += static_cast<long>(map.size());
    return sums;
  }
  void refuse(const std::string& text) { throw std::out_of_range(text.substr(0, 3)); }
  void add_unreadable(const std::string&, unreadable, const std::string&) { all.emplace_back("?"); }
  std::string last() const { return all.back(); }
};

inline void sends_long_arguments_of_each_kind(object_space& space) {
  const int home = (space.rank() + 1) % space.size();
  const auto a = space.make_on<archive_of_texts>(home);
  for (const std::size_t size : long_sizes) {
    const std::string text = filled(size, 3);
    a.call<&archive_of_texts::add>(text);
    EXPECT_TRUE(a.call<&archive_of_texts::last>() == text) << size;
    a.call<&archive_of_texts::add_view>(std::string_view(text).substr(1));
    EXPECT_TRUE(a.call<&archive_of_texts::last>() == text.substr(1)) << size;
    std::vector<long> numbers(size / sizeof(long));
    std::iota(numbers.begin(), numbers.end(), 7);
    const auto sums = a.call<&archive_of_texts::add_three>("short", numbers, table{}, text);
    EXPECT_TRUE(sums == numbers) << size;
    EXPECT_TRUE(a.call<&archive_of_texts::last>() == text) << size;
  }
  // Much that is copied beside what is not.
  table large;
  for (int i = 0; i < 5'000; ++i) large[std::to_string(i)] = {i};
  const auto sums = a.call<&archive_of_texts::add_three>(filled(100'000, 1),
                                                         std::vector<long>(50'000, 1), large, "");
  EXPECT_TRUE(sums == std::vector<long>(50'000, 5'001));
}

/// The arguments of calls that do not wait are gone, or changed, before these are sent.
inline void sends_long_arguments_that_are_gone(object_space& space) {
  const int home = (space.rank() + 1) % space.size();
  const auto a = space.make_on<archive_of_texts>(home);
  std::vector<std::string> expected;
  std::vector<async_result<std::size_t>> begun;
  for (int i = 0; i < 12; ++i) {
    std::string text = filled(30'000u + 10'000u * static_cast<unsigned>(i), i);
    expected.push_back(text);
    if (i % 4 == 0) a.post<&archive_of_texts::add>(text);
    if (i % 4 == 1) a.post<&archive_of_texts::add>(std::move(text));
    if (i % 4 == 2) begun.push_back(a.async<&archive_of_texts::add_view>(text));
    if (i % 4 == 3) a.post<&archive_of_texts::add>(text.c_str());
    text.assign(text.size(), '!');
  }
  EXPECT_TRUE(a.call<&archive_of_texts::all>() == expected);
  for (auto& each : begun) each.get();
}

/// All ranks send long arguments at once, and results that nobody wants.
inline void sends_long_arguments_everywhere_at_once(object_space& space) {
  const auto all = space.make_on_all<archive_of_texts>();
  space.barrier();
  for (int round = 0; round < 3; ++round) {
    const std::string text = filled(200'000, round);
    std::vector<async_result<std::size_t>> begun;
    for (int rank = 0; rank < space.size(); ++rank) {
      begun.push_back(all[rank].async<&archive_of_texts::add_view>(text));
      (void)all[rank].async<&archive_of_texts::last>();  // dropped, also while it arrives
      EXPECT_TRUE(all[rank].call<&archive_of_texts::last>().size() == text.size());
    }
    for (auto& each : begun) each.get();
  }
  space.barrier();
}

/// A chain of calls around all ranks, several times: each waits for the next one.
inline long around(long steps) {
  if (steps == 0) return 0;
  object_space& space = object_space::current();
  return 1 + space.call_on<&around>((space.rank() + 1) % space.size(), steps - 1);
}

inline void serves_calls_while_it_waits(object_space& space) {
  EXPECT_EQ(around(3l * space.size() + 1), 3l * space.size() + 1);
  // A call on the object that is running a call.
  const auto a = space.make_on<account>((space.rank() + 1) % space.size(), "Bob", 0);
  constexpr auto through = [](account& self, global_ref<account> own, int rank) {
    constexpr auto back = [](global_ref<account> to) { return to.call<&account::deposit>(4); };
    const long now = object_space::current().call_on<back>(rank, own);
    return now == self.balance ? now : -1;
  };
  EXPECT_EQ(a.call<through>(a, space.rank()), 4);
}

template <class Failure>
std::string what_of(const auto& call) {
  try {
    call();
  } catch (const Failure& why) {
    return why.what();
  }
  return "nothing thrown";
}

inline void passes_exceptions_on(object_space& space) {
  for (int home = 0; home < space.size(); ++home) {
    const auto a = space.make_on<account>(home);
    const auto failing = [&](int kind) { return [&a, kind] { a.call<&account::fail>(kind); }; };
    EXPECT_EQ(what_of<usage_error>(failing(0)), "do not do that");
    EXPECT_EQ(what_of<error>(failing(1)), "input.txt: No such file or directory");
    EXPECT_EQ(what_of<call_error>(failing(2)), "too far");
    EXPECT_EQ(what_of<call_error>(failing(3)), "an exception that is no std::exception");
    auto later = a.async<&account::fail>(2);
    EXPECT_EQ(what_of<call_error>([&] { later.get(); }), "too far");
    { auto dropped = a.async<&account::fail>(2); }
    EXPECT_EQ(a.call<&account::deposit>(1), 1);
    struct refuses {
      explicit refuses(int) { throw error(EPERM, "not here"); }
    };
    const auto made = [&] { (void)space.make_on<refuses>(home, 1); };
    EXPECT_EQ(what_of<error>(made), "not here: Operation not permitted");
  }
}

inline void passes_exceptions_of_long_calls_on(object_space& space) {
  const int home = (space.rank() + 1) % space.size();
  const auto a = space.make_on<archive_of_texts>(home);
  const std::string text = filled(100'000, 0);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(what_of<call_error>([&] { a.call<&archive_of_texts::refuse>(text); }), "abc");
    EXPECT_EQ(what_of<call_error>(
                  [&] { a.call<&archive_of_texts::add_unreadable>(text, unreadable{}, text); }),
              "not to be read");
  }
  EXPECT_TRUE(a.call<&archive_of_texts::all>().empty());
  a.destroy();
  EXPECT_EQ(what_of<usage_error>([&] { a.call<&archive_of_texts::add>(text); }),
            "a call of an object that was destroyed");
  a.post<&archive_of_texts::add>(text);  // dropped
  space.barrier();
}

struct counted {
  static inline thread_local int alive = 0;
  counted() { ++alive; }
  ~counted() { --alive; }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  /// Destroys itself, through another rank, while it runs.
  int end(global_ref<counted> self, int through) {
    constexpr auto destroy = [](global_ref<counted> it) { it.destroy(); };
    object_space::current().call_on<destroy>(through, self);
    return alive;
  }
};
inline int alive_here() {
  return counted::alive;
}

inline void refuses_destroyed_objects(object_space& space) {
  const int home = (space.rank() + 1) % space.size();
  space.barrier();
  const auto a = space.make_on<counted>(home);
  const auto b = space.make_on<account>(home, "Eve", 1);
  EXPECT_GE(a.call<&counted::end>(a, space.rank()), 1);
  const std::string gone = "a call of an object that was destroyed";
  EXPECT_EQ(what_of<usage_error>([&] { a.call<&counted::end>(a, 0); }), gone);
  EXPECT_EQ(what_of<usage_error>([&] { a.destroy(); }), gone);
  a.post<&counted::end>(a, 0);  // dropped
  b.destroy();
  // Its place is used again, its address is not.
  const auto c = space.make_on<account>(home, "Eve", 2);
  EXPECT_NE(b.address(), c.address());
  EXPECT_EQ(what_of<usage_error>([&] { b.call<&account::balance>(); }), gone);
  EXPECT_EQ(c.call<&account::balance>(), 2);
  space.barrier();
  EXPECT_EQ(counted::alive, 0);
  const auto none = [&] { global_ref<account>().call<&account::balance>(); };
  EXPECT_EQ(what_of<usage_error>(none), "a call of rank -1 of " + std::to_string(space.size()));
  const auto too_far = [&] { (void)space.make_on<account>(space.size()); };
  EXPECT_NE(what_of<usage_error>(too_far), "nothing thrown");
}

struct ring {
  long seen = 0;
  /// Posts on and on, to the next rank.
  static void pass(ring& self, const global_group<ring>& all, int left) {
    ++self.seen;
    if (left == 0) return;
    const int next = (object_space::current().rank() + 1) % all.size();
    all[next].post<&ring::pass>(all, left - 1);
  }
};

/// A barrier waits for all posts, also for those that posts make.
inline void ends_when_nothing_is_under_way(object_space& space) {
  constexpr int steps = 50;
  constexpr auto sum = [](long a, long b) { return a + b; };
  const auto all = space.make_on_all<ring>();
  for (int round = 1; round <= 3; ++round) {
    all[(space.rank() + 1) % all.size()].post<&ring::pass>(all, steps);
    space.barrier();
    EXPECT_EQ((all.reduce<&ring::seen>(sum)), round * (steps + 1l));
    space.barrier();
  }
}

inline void calls_groups(object_space& space) {
  const auto all = space.make_on_all<account>("all", 7l);
  EXPECT_EQ(all.size(), space.size());
  EXPECT_EQ(all.call_all<&account::deposit>(space.rank()),
            std::vector<long>(static_cast<std::size_t>(space.size()), 7 + space.rank()));
  all.post_all<&charge>(7);
  const auto names = all.reduce<&account::name>([](std::string a, std::string b) { return a + b; });
  EXPECT_EQ(names.size(), 3u * static_cast<unsigned>(space.size()));
  EXPECT_EQ(what_of<call_error>([&] { all.call_all<&account::fail>(2); }), "too far");
  all.destroy();
  EXPECT_NE(what_of<usage_error>([&] { all.call_all<&account::balance>(); }), "nothing thrown");
}

/// Handles go to all ranks, while those that make them need the others.
inline void broadcasts(object_space& space) {
  for (int root = 0; root < space.size(); ++root) {
    const bool makes = space.rank() == root;
    const auto all =
        space.bcast(makes ? space.make_on_all<account>("all", 1l) : global_group<account>(), root);
    EXPECT_EQ(space.bcast(std::to_string(space.rank()), root), std::to_string(root));
    all.call_all<&account::deposit>(1);
    space.barrier();
    EXPECT_EQ(all[space.rank()].call<&account::balance>(), 1 + space.size());
    space.barrier();
  }
  EXPECT_THROW((void)space.bcast(1, space.rank() == 0 ? space.size() : -1), usage_error);
}

/// More posts than may be under way, in both directions at the same time.
inline void floods(object_space& space) {
  const auto a = space.make_on<account>((space.rank() + 1) % space.size());
  constexpr auto add = [](account& self, std::string_view text) {
    self.balance += static_cast<long>(text.size());
  };
  const std::string text(1000, 'x');
  for (int i = 0; i < 2000; ++i) a.post<add>(text);
  const std::string long_text(1'500'000, 'y');
  a.post<add>(long_text);
  EXPECT_EQ(a.call<&account::balance>(), 3'500'000);
}

struct careful {
  std::vector<std::string> failures;
  void fail(int at) { throw std::runtime_error("at " + std::to_string(at)); }
  void on_post_failure(const std::exception_ptr& why) {
    failures.push_back(what_of<std::runtime_error>([&] { std::rethrow_exception(why); }));
  }
};

inline void reports_failures_of_posts(object_space& space) {
  const auto a = space.make_on<careful>((space.rank() + 1) % space.size());
  a.post<&careful::fail>(1);
  a.post<&careful::fail>(2);
  EXPECT_EQ(a.call<&careful::failures>(), (std::vector<std::string>{"at 1", "at 2"}));
  space.barrier();
  // Without a handler the receiver's next wait throws.
  constexpr auto fail = [] { throw std::runtime_error("lost"); };
  if (space.rank() == 0) space.post_on<fail>(space.size() - 1);
  if (space.rank() != space.size() - 1) return space.barrier();
  EXPECT_EQ(what_of<std::runtime_error>([&] { space.barrier(); }), "lost");
  space.barrier();
}

/// Takes much of the stack, to need few calls.
inline long deep(long seen) {
  volatile char room[1 << 15];
  room[seen % sizeof room] = 1;
  object_space& space = object_space::current();
  return space.call_on<&deep>((space.rank() + 1) % space.size(), seen + 1) +
         room[seen % sizeof room];
}

/// Endless recursion ends with an exception, not with a crash.
inline void stops_before_the_stack_is_used_up(object_space& space) {
  space.barrier();
  if (space.rank() == 0) {
    const std::string text = what_of<usage_error>([] { deep(0); });
    EXPECT_NE(text.find("no stack left for a call"), std::string::npos) << text;
  }
}

inline void tells_of_wrong_use(object_space& space) {
  constexpr auto barrier = [] { object_space::current().barrier(); };
  EXPECT_NE(what_of<usage_error>([&] { space.call_on<barrier>(space.rank()); }), "nothing thrown");
}

/// Runs all cases on a communicator.
template <class Communicator>
void run_all(Communicator& ranks) {
  for (const auto& one :
       {&calls_objects, &keeps_the_order_of_calls, &sends_arguments_of_all_kinds,
        &sends_long_arguments_of_each_kind, &sends_long_arguments_that_are_gone,
        &sends_long_arguments_everywhere_at_once, &passes_exceptions_of_long_calls_on,
        &serves_calls_while_it_waits, &passes_exceptions_on, &refuses_destroyed_objects,
        &ends_when_nothing_is_under_way, &calls_groups, &broadcasts, &floods,
        &reports_failures_of_posts, &stops_before_the_stack_is_used_up, &tells_of_wrong_use}) {
    object_space space(ranks);
    one(space);
  }
}

}  // namespace creek::object_space_cases

// SPDX-License-Identifier: Apache-2.0
#include "random_program.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <ostream>

#include <creek/tasking.hpp>

namespace conformance {

namespace {

using number = std::uint64_t;

struct thrown_number {
  number value;
};

/// The result of a child: its value or its exception.
struct result {
  number value = 0;
  bool failed = false;
};

constexpr number mix(number a, number b) {
  a ^= b + 0x9E3779B97F4A7C15ULL + (a << 6) + (a >> 2);
  return a * 0xBF58476D1CE4E5B9ULL;
}

/// Rules of the parallel and the sequential run: a node's value is its number mixed with those
/// of its children in order. If some children failed: forks, which promise an order, throw the
/// number of the first; other nodes, which may get any of the exceptions, continue with a mark.
constexpr number failure_mark = 0xDEAD;

number combine(const program& p, const std::vector<result>& results) {
  number value = p.number;
  for (const result& each : results) {
    if (p.kind == step::forked && each.failed) throw thrown_number{mix(p.number, each.value)};
  }
  const bool failed =
      std::any_of(results.begin(), results.end(), [](const result& r) { return r.failed; });
  if (failed) return mix(value, failure_mark);
  for (const result& each : results) value = mix(value, each.value);
  return value;
}

template <class F>
result result_of(F&& f) {
  try {
    return {f(), false};
  } catch (const thrown_number& caught) {
    return {caught.value, true};
  }
}

number work(number seed) {
  for (number i = 0; i < seed % 64; ++i) seed = mix(seed, i);
  return seed;
}

// --- Sequential ---------------------------------------------------------------------------------

number evaluate(const program& p, number& side) {
  switch (p.kind) {
    case step::leaf:
      return work(p.number);
    case step::thrown:
      throw thrown_number{p.number};
    case step::left_alone:
      for (const program& child : p.children) {
        side += result_of([&] { return evaluate(child, side); }).value;
      }
      return p.number;
    default: {
      std::vector<result> results;
      for (const program& child : p.children) {
        results.push_back(result_of([&] { return evaluate(child, side); }));
        if (p.kind == step::chained && results.back().failed) break;
      }
      return combine(p, results);
    }
  }
}

// --- Parallel -----------------------------------------------------------------------------------

class runner {
 public:
  explicit runner(std::atomic<number>& side) : side_(side) {}

  number run(const program& p) {
    switch (p.kind) {
      case step::leaf:
        return work(p.number);
      case step::thrown:
        throw thrown_number{p.number};
      case step::forked:
        return forked(p);
      case step::spawned:
        return spawned(p);
      case step::grouped:
        return grouped(p);
      case step::futures:
        return futures(p);
      case step::chained:
        return chained(p);
      case step::gathered:
        return gathered(p);
      case step::pipeline:
        return pipeline(p);
      case step::looped:
        return looped(p);
      case step::left_alone:
        return left_alone(p);
      case step::ranked:
        return ranked(p);
    }
    return 0;
  }

 private:
  auto child(const program& p, std::size_t i) {
    return [this, &below = p.children[i]] { return run(below); };
  }
  /// Returns a task that writes a child's value, and throws what the child throws.
  auto writer(const program& p, std::size_t i, std::vector<result>& results) {
    return [this, &below = p.children[i], &into = results[i]] { into.value = run(below); };
  }
  /// Records the result of a wait that rethrows: one failure represents all.
  template <class Wait>
  static void wait_for(Wait&& wait, std::vector<result>& results) {
    const result waited = result_of([&] {
      wait();
      return number{0};
    });
    results.front().failed = waited.failed;
  }

  number forked(const program& p) {
    // The first failure in order is rethrown; which child failed does not matter.
    const result outcome = result_of([&] {
      number value = p.number;
      if (p.children.size() == 2) {
        const auto [a, b] = creek::fork_join(child(p, 0), child(p, 1));
        value = mix(mix(value, a), b);
      } else {
        const auto [a, b, c] = creek::fork_join(child(p, 0), child(p, 1), child(p, 2));
        value = mix(mix(mix(value, a), b), c);
      }
      return value;
    });
    if (outcome.failed) throw thrown_number{mix(p.number, outcome.value)};
    return outcome.value;
  }
  number spawned(const program& p) {
    std::vector<result> results(p.children.size());
    for (std::size_t i = 0; i < results.size(); ++i) creek::spawn(writer(p, i, results));
    wait_for([] { creek::taskwait(); }, results);
    return combine(p, results);
  }
  number ranked(const program& p) {
    std::vector<result> results(p.children.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      creek::spawn(static_cast<creek::priority>(static_cast<int>(p.order[i] % 3) - 1),
                   writer(p, i, results));
    }
    wait_for([] { creek::taskwait(); }, results);
    return combine(p, results);
  }
  number grouped(const program& p) {
    std::vector<result> results(p.children.size());
    creek::task_group group;
    for (std::size_t i = 0; i < results.size(); ++i) group.spawn(writer(p, i, results));
    wait_for([&] { group.wait(); }, results);
    return combine(p, results);
  }
  number futures(const program& p) {
    std::vector<creek::future<number>> open;
    for (std::size_t i = 0; i < p.children.size(); ++i) open.push_back(creek::async(child(p, i)));
    std::vector<result> results(p.children.size());
    for (const std::size_t i : p.order) results[i] = result_of([&] { return open[i].get(); });
    return combine(p, results);
  }
  number chained(const program& p) {
    std::vector<result> results(p.children.size());
    auto future = creek::async(writer(p, 0, results));
    for (std::size_t i = 1; i < results.size(); ++i) future = future.then(writer(p, i, results));
    wait_for([&] { future.get(); }, results);
    return combine(p, results);
  }
  number gathered(const program& p) {
    std::vector<creek::future<number>> open;
    for (std::size_t i = 0; i < p.children.size(); ++i) open.push_back(creek::async(child(p, i)));
    std::vector<result> results(p.children.size());
    wait_for(
        [&] {
          const auto values = creek::when_all(std::move(open)).get();
          for (std::size_t i = 0; i < values.size(); ++i) results[i].value = values[i];
        },
        results);
    return combine(p, results);
  }
  number pipeline(const program& p) {
    const std::size_t n = p.children.size();
    std::vector<result> results(n);
    std::vector<creek::promise<bool>> ended(n + 1);
    std::vector<creek::future<bool>> before;
    for (auto& promise : ended) before.push_back(promise.get_future());
    for (const std::size_t i : p.order) {
      creek::spawn([&, i] {
        const bool failed = before[i].get();
        results[i] = result_of(child(p, i));
        ended[i + 1].set_value(failed || results[i].failed);
      });
    }
    ended[0].set_value(false);
    const bool failed = before[n].get();
    creek::taskwait();
    results.front().failed = failed;
    return combine(p, results);
  }
  number looped(const program& p) {
    std::vector<result> results(p.children.size());
    // An exception in the body might skip other children.
    creek::parallel_for(std::size_t{0}, results.size(),
                        [&](std::size_t i) { results[i] = result_of(child(p, i)); }, {.grain = 1});
    return combine(p, results);
  }
  number left_alone(const program& p) {
    for (const program& below : p.children) {
      creek::spawn(
          [*this, &below]() mutable { side_ += result_of([&] { return run(below); }).value; });
    }
    return p.number;
  }

  std::atomic<number>& side_;
};

}  // namespace

std::size_t program::size() const {
  return std::accumulate(children.begin(), children.end(), std::size_t{1},
                         [](std::size_t sum, const program& child) { return sum + child.size(); });
}

program make_program(std::mt19937_64& random, int depth, bool pipelines) {
  program p;
  p.number = random();
  if (depth == 0 || random() % 8 == 0) {
    if (random() % 16 == 0) p.kind = step::thrown;
    return p;
  }
  p.kind = static_cast<step>(static_cast<unsigned>(step::forked) + random() % inner_kinds);
  if (p.kind == step::pipeline && !pipelines) p.kind = step::spawned;
  const std::size_t width = 2 + random() % (p.kind == step::forked ? 2 : 4);
  for (std::size_t i = 0; i < width; ++i)
    p.children.push_back(make_program(random, depth - 1, pipelines));
  p.order.resize(width);
  std::iota(p.order.begin(), p.order.end(), 0);
  std::shuffle(p.order.begin(), p.order.end(), random);
  return p;
}

outcome run_sequentially(const program& p) {
  outcome all;
  all.value = result_of([&] { return evaluate(p, all.side); }).value;
  return all;
}

std::uint64_t run_as_task(const program& p, std::atomic<std::uint64_t>& side) {
  return result_of([&] { return runner(side).run(p); }).value;
}

std::ostream& operator<<(std::ostream& out, const program& p) {
  static constexpr const char* names[] = {"leaf",     "thrown",  "forked",     "spawned",
                                          "grouped",  "futures", "chained",    "gathered",
                                          "pipeline", "looped",  "left_alone", "ranked"};
  out << names[static_cast<unsigned>(p.kind)];
  if (p.children.empty()) return out;
  const char* separator = "(";
  for (const program& child : p.children) {
    out << separator << child;
    separator = " ";
  }
  return out << ")";
}

}  // namespace conformance

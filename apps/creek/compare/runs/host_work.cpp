// SPDX-License-Identifier: Apache-2.0
#include "host_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <creek/tasking/fork_join.hpp>
#include <creek/tasking/parallel_for.hpp>
#include <creek/tasking/parallel_sort.hpp>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "dense/generated_job.hpp"

namespace creek::tool::compare {
namespace {

dense::method method_of(problem_kind kind) {
  return kind == problem_kind::lu     ? dense::method::lu
         : kind == problem_kind::chol ? dense::method::chol
                                      : dense::method::qr;
}

class dense_work final : public host_work {
 public:
  dense_work(const setup& given, long long n) : job_(dense_problem(given, n)) {}

  std::string about() const override {
    const dense::problem& what = job_.what();
    return fmt::format("{} {} x {} double, {}, form {}, block {}", what.command, what.rows,
                       what.cols, what.matrix_source, dense::to_string(what.layout),
                       what.block == 0 ? "chosen by the size" : std::to_string(what.block));
  }
  void prepare() override { job_.prepare(); }
  void run() override { info_ = job_.run(); }
  std::string judge() override { return what_is_wrong(info_, job_.judge()); }
  const linalg::graph_report* graph() const override { return &job_.graph(); }
  work_graph plan() override {
    const std::vector<linalg::task_run> runs = job_.graph().runs;
    job_.prepare();
    return linalg::measured(job_.plan(), runs);
  }

 private:
  dense::generated_job job_;
  dense::index_t info_ = 0;
};

std::int64_t fib(long long n) {
  if (n < 2) return n;
  auto [a, b] = fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

/// Forks for every number without doing any work, to measure the cost of scheduling.
class fib_work final : public host_work {
 public:
  explicit fib_work(long long n) : n_(n) {}

  std::string about() const override { return fmt::format("fib({}) by fork and join", n_); }
  void prepare() override { (void)fib(std::min<long long>(n_, 20)); }
  void run() override { result_ = fib(n_); }
  std::string judge() override {
    std::int64_t a = 0, b = 1;
    for (long long i = 0; i < n_; ++i) a = std::exchange(b, a + b);
    if (result_ == a) return {};
    return fmt::format("answer {} instead of {}", result_, a);
  }

 private:
  long long n_;
  std::int64_t result_ = 0;
};

class sort_work final : public host_work {
 public:
  sort_work(long long n, std::uint64_t seed) : seed_(seed), numbers_(static_cast<std::size_t>(n)) {}

  std::string about() const override {
    return fmt::format("parallel_sort of {} numbers", numbers_.size());
  }
  void prepare() override {
    parallel_for(std::size_t{0}, numbers_.size(), [this](std::size_t i) {
      // Fibonacci hashing: numbers in random order, each once.
      numbers_[i] = (i + seed_) * 0x9e3779b97f4a7c15;
    });
    sum_ = sum();
  }
  void run() override { parallel_sort(numbers_.begin(), numbers_.end()); }
  std::string judge() override {
    if (!std::ranges::is_sorted(numbers_)) return "the numbers are not in order";
    return sum() == sum_ ? "" : "the numbers are not those that were to be sorted";
  }

 private:
  std::uint64_t sum() const {
    std::uint64_t all = 0;
    for (const std::uint64_t each : numbers_) all += each;
    return all;
  }

  std::uint64_t seed_;
  std::vector<std::uint64_t> numbers_;
  std::uint64_t sum_ = 0;
};

}  // namespace

dense::problem dense_problem(const setup& given, long long n) {
  dense::request asked;
  asked.how = method_of(given.kind);
  asked.layout = given.layout;
  asked.n = n;
  asked.block = given.block;
  asked.seed = static_cast<long long>(given.seed);
  asked.check = true;
  dense::require_sense(asked);
  dense::problem what = dense::plan(asked, {});
  if (given.backend == "scc") what.updates = linalg::update_tasks::blocks;
  dense::require_memory(what);
  return what;
}

std::string what_is_wrong(dense::index_t info, const std::vector<dense::judgement>& judgements) {
  if (info != 0) return fmt::format("the matrix cannot be factored, info {}", info);
  for (const dense::judgement& one : judgements) {
    if (one.passed()) continue;
    return fmt::format("residual {:.3g} is not at most {:g}, the answer is wrong", one.value,
                       one.threshold);
  }
  return {};
}

std::unique_ptr<host_work> make_host_work(const setup& given, long long n) {
  switch (given.kind) {
    case problem_kind::fib:
      return std::make_unique<fib_work>(n);
    case problem_kind::sort:
      return std::make_unique<sort_work>(n, given.seed);
    default:
      return std::make_unique<dense_work>(given, n);
  }
}

}  // namespace creek::tool::compare

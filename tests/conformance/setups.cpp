// SPDX-License-Identifier: Apache-2.0
#include "setups.hpp"

#include <creek/scc.hpp>
#include <ostream>

#include "support/few_cases.hpp"
#include "support/process_facts.hpp"

namespace conformance {

std::vector<setup> setups() {
  std::vector<setup> all;
  for (const std::string& backend : creek::backends()) {
    const bool simulated = backend == "scc";
    for (const unsigned workers : {1U, simulated ? 4U : 2U, simulated ? 48U : 4U}) {
      // Four cores, which take turns, and one or four threads suffice for a sanitizer. To
      // ThreadSanitizer all cores are one thread, and it finds little in one.
      bool needed = workers == 4 || (workers == 1 && !simulated);
      if (creek::support::under_tsan) needed = workers == 4 && !simulated;
      if (creek::support::few_cases && !needed) continue;
      all.push_back({backend, workers});
    }
  }
  return all;
}

std::string name_of(const testing::TestParamInfo<setup>& info) {
  return info.param.backend + "_" + std::to_string(info.param.workers);
}

std::ostream& operator<<(std::ostream& out, const setup& shown) {
  return out << shown.workers << " workers of " << shown.backend;
}

std::vector<creek::scheduler_options> variants(const setup& where) {
  using namespace creek;
  std::vector<scheduler_options> all;
  const scheduler_options plain{.workers = where.workers};
  if (where.backend != "host" && where.backend != "scc") return {plain};
  for (const auto scheduler :
       {scheduler_kind::stealing_random, scheduler_kind::stealing_last_victim,
        scheduler_kind::stealing_latency, scheduler_kind::sharing}) {
    if (where.backend == "scc") {
      if (creek::support::few_cases && scheduler != scheduler_kind::stealing_latency &&
          scheduler != scheduler_kind::sharing) {
        continue;
      }
      all.push_back(plain);
      all.back().scheduler = scheduler;
      continue;
    }
    for (const auto deque : {deque_kind::host, deque_kind::mpb}) {
      for (const auto idle : {idle_policy::poll, idle_policy::backoff, idle_policy::block}) {
        const int sum = int(scheduler) + int(deque) + int(idle);
        if (creek::support::few_cases && sum % 2 != 0) continue;  // still every pair
        scheduler_options options = plain;
        options.scheduler = scheduler;
        options.deque = deque;
        options.idle = idle;
        all.push_back(options);
      }
    }
  }
  return all;
}

creek::runtime make_runtime(const creek::scheduler_options& options, const std::string& backend) {
  if (backend != "scc") return creek::runtime(options, backend);
  creek::scc chosen(options);
  creek::scc_backend::chip& chip = chosen.machine.description;
  // 160 bytes per task; the rest is for counters and results.
  chip.mpb_bytes = 16384 + std::size_t{options.deque_capacity} * 160;
  // All tasks run on such a stack, and AddressSanitizer makes their frames several times larger.
  if (creek::support::under_asan) chosen.options.stack_size *= 4;
  return creek::runtime(chosen);
}

std::string describe(const creek::scheduler_options& options) {
  return std::string(to_string(options.scheduler)) + "/" + std::string(to_string(options.deque)) +
         "/" + std::string(to_string(options.idle));
}

void Conformance::on_each_runtime(creek::function_ref<void(creek::runtime&)> body,
                                  std::uint32_t deque_capacity) {
  for (creek::scheduler_options options : variants(GetParam())) {
    SCOPED_TRACE(describe(options));
    options.deque_capacity = deque_capacity;
    creek::runtime rt = make_runtime(options, GetParam().backend);
    body(rt);
    if (HasFatalFailure()) return;
  }
}

long fib_sequential(int n) {
  long a = 0, b = 1;
  for (; n > 0; --n) {
    const long sum = a + b;
    a = b;
    b = sum;
  }
  return a;
}

long fib(int n) {
  if (n < 2) return n;
  const auto [a, b] = creek::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

}  // namespace conformance

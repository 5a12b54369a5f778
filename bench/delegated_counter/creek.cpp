// SPDX-License-Identifier: Apache-2.0
// remote::post from every worker to an object on the last one, then a call that waits for them.
#include "config.hpp"
#include "harness/creek_runtime.hpp"

namespace bench::delegated_counter {
namespace {

constexpr auto post_one = [](const creek::remote<counter>& there) { there.post(&counter::add); };
constexpr auto merge_one = [](const creek::remote<counter>& there) {
  there.post(creek::add_to<&counter::calls>{1});
};

template <auto AddOne>
sample measure(const settings& s) {
  sample result{.work = static_cast<double>(s.n)};
  inside(s, [&] {
    const auto there = creek::make_on<counter>(creek::core_id{static_cast<int>(s.workers) - 1});
    result.total_ns = time_workers(s, [&](unsigned w) {
      for (std::int64_t i = share(s, w); i > 0; --i) AddOne(there);
      there.call(&counter::get);
    });
    result.answer = there.call(&counter::get);
  });
  return result;
}

const registration one_by_one{what, measure<post_one>};
const registration by_many{merged, measure<merge_one>};

}  // namespace
}  // namespace bench::delegated_counter

// SPDX-License-Identifier: Apache-2.0
// A std::deque on the last worker: push is a post, pop a call that waits for the items. Eight items
// travel in the message itself.
#include <algorithm>
#include <deque>

#include "config.hpp"
#include "harness/creek_runtime.hpp"

namespace bench::delegated_queue {
namespace {

using fifo = std::deque<item>;

/// Some items, followed by `none` in the rest of the array.
template <std::size_t AtOnce>
using parcel = std::array<item, AtOnce>;
constexpr item none = ~item{0};

constexpr auto push_here = [](fifo& items, const auto& added) {
  for (const item each : added) {
    if (each != none) items.push_back(each);
  }
};

template <std::size_t AtOnce>
parcel<AtOnce> pop_here(fifo& items, std::size_t count) {
  parcel<AtOnce> taken{};
  for (std::size_t i = 0; i < count; ++i) {
    taken[i] = items.front();
    items.pop_front();
  }
  return taken;
}

template <std::size_t AtOnce>
sample measure(const settings& s) {
  sample result;
  inside(s, [&] {
    const auto there = creek::make_on<fifo>(creek::core_id{static_cast<int>(s.workers) - 1});
    result = run<AtOnce>(
        s, [&](const auto& body) { return time_workers(s, body); },
        [&](std::span<const item> added) {
          parcel<AtOnce> some;
          std::fill(std::copy(added.begin(), added.end(), some.begin()), some.end(), none);
          there.post(push_here, some);
        },
        [&](std::span<item> wanted) {
          const parcel<AtOnce> taken = there.call(pop_here<AtOnce>, wanted.size());
          std::copy_n(taken.begin(), wanted.size(), wanted.begin());
        });
  });
  return result;
}

const registration by_one{one, measure<1>};
const registration by_eight{eight, measure<8>};

}  // namespace
}  // namespace bench::delegated_queue

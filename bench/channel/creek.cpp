// SPDX-License-Identifier: Apache-2.0
// creek::channel, with sends and receives that wait.
#include "config.hpp"
#include "harness/creek_runtime.hpp"

namespace bench::channel {
namespace {

template <std::size_t AtOnce, class Form>
sample measure(const settings& s) {
  sample result;
  inside(s, [&] {
    creek::channel<item, Form> queue(capacity);
    result = run<AtOnce, Form::many_producers>(
        s, [&](const auto& body) { return time_workers(s, body); },
        [&](std::span<const item> items) {
          if constexpr (AtOnce == 1) {
            if (!queue.send(items[0])) throw std::runtime_error("closed");
          } else {
            queue.send_batch(items.begin(), items.size());
          }
        },
        [&](std::span<item> room) -> std::size_t {
          if constexpr (AtOnce == 1) {
            room[0] = *queue.receive();
            return 1;
          } else {
            return queue.receive_batch(room.begin(), room.size());
          }
        });
  });
  return result;
}

const registration by_one{one, measure<1, creek::spsc>};
const registration by_eight{eight, measure<8, creek::spsc>};
const registration by_many{shared, measure<1, creek::mpmc>};

}  // namespace
}  // namespace bench::channel

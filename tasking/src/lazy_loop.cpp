// SPDX-License-Identifier: Apache-2.0
#include <creek/tasking/detail/lazy_loop.hpp>

#include <creek/tasking/fork_join.hpp>

namespace creek::detail {
namespace {

// Works off positions [lo, hi) chunk by chunk, giving halves to idle workers.
void lazy_loop(position lo, position hi, pace speed, const chunk_reference& chunk,
               loop_control& control) {
  while (lo < hi) {
    if (control.ended()) return;
    const position end = lo + std::min(speed.chunk(), hi - lo);
    const ticks started = speed.start();
    control.guard([&] { chunk(lo, end); });
    speed.finish(started);
    lo = end;
    if (hungry() && speed.worth_splitting(hi - lo)) {
      const position mid = lo + (hi - lo) / 2;
      fork_join([&] { lazy_loop(lo, mid, speed, chunk, control); },
                [&] { lazy_loop(mid, hi, speed, chunk, control); });
      return;
    }
  }
}

// Cuts [lo, hi) into `parts` contiguous pieces by forking in halves and runs lazy_loop on each.
void divide_loop(position lo, position hi, position parts, pace speed, const chunk_reference& chunk,
                 loop_control& control) {
  if (parts <= 1) return lazy_loop(lo, hi, speed, chunk, control);
  const position lower = parts / 2;
  const position mid = lo + (hi - lo) / parts * lower;
  fork_join([&] { divide_loop(lo, mid, lower, speed, chunk, control); },
            [&] { divide_loop(mid, hi, parts - lower, speed, chunk, control); });
}

}  // namespace

void drive_chunks(position count, std::size_t grain, const chunk_reference& chunk,
                  loop_control& control) {
  divide_loop(0, count, first_pieces(count, grain), pace(grain), chunk, control);
}

}  // namespace creek::detail

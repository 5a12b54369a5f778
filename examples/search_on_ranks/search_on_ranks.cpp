// SPDX-License-Identifier: Apache-2.0
// The knapsack problem by branch and bound, on the workers of all machines: mpirun -n 2
// ./search_on_ranks 40. Subtrees of the search differ in size, so tasks move to ranks without work.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <creek/mpi.hpp>
#include <creek/tasking/movable_tasks.hpp>

namespace {

struct item {
  long value, weight;
};
std::vector<item> items;  // the same on each rank, the most valuable per weight first
long capacity = 0;

/// Returns at most what the items from `next` on can add: the last one may be cut.
long bound(std::size_t next, long room) {
  long value = 0;
  for (; next < items.size() && items[next].weight <= room; ++next) {
    value += items[next].value;
    room -= items[next].weight;
  }
  return next == items.size() ? value : value + items[next].value * room / items[next].weight;
}

struct best {
  long value = 0;
  long nodes = 0;
};

/// Decides about the item `next`; its results are those of this thread only, so that threads find
/// good bounds on their own.
void decide(creek::task_bag<best>& bag, std::size_t next, long value, long room) {
  best& here = bag.result();
  ++here.nodes;
  here.value = std::max(here.value, value);
  if (next == items.size() || value + bound(next, room) <= here.value) return;
  bag.spawn<&decide>(next + 1, value, room);
  if (items[next].weight <= room) {  // this one runs first
    bag.spawn<&decide>(next + 1, value + items[next].value, room - items[next].weight);
  }
}

void make_items(int count) {
  unsigned state = 7;
  const auto random = [&state](unsigned below) {
    state = state * 1664525 + 1013904223;
    return static_cast<long>((state >> 8) % below);
  };
  for (int i = 0; i < count; ++i) {
    const long weight = 100 + random(900);
    items.push_back({weight + 100, weight});  // a hard case: all are about as valuable
    capacity += weight;
  }
  capacity /= 2;
  std::sort(items.begin(), items.end(),
            [](const item& a, const item& b) { return a.value * b.weight > b.value * a.weight; });
}

}  // namespace

int main(int argc, char** argv) {
  return creek::ranks(argc, argv, [&](creek::mpi_communicator& all) {
    make_items(argc > 1 ? std::atoi(argv[1]) : 30);
    creek::object_space space(all);
    creek::runtime rt;
    creek::movable_tasks<best> tasks(space, rt);
    if (all.rank() == 0) tasks.spawn<&decide>(std::size_t{0}, 0L, capacity);
    const best found = tasks.run([](best a, best b) {
      return best{std::max(a.value, b.value), a.nodes + b.nodes};
    });
    if (all.rank() != 0) return;
    std::printf("best value %ld\n", found.value);
    std::fprintf(stderr, "%ld nodes on %d ranks\n", found.nodes, all.size());
  });
}

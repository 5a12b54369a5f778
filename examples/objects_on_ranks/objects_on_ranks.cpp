// SPDX-License-Identifier: Apache-2.0
// A table whose shards live on all ranks: every rank adds to every shard, then looks values up.
// Started as `mpirun -n 4 objects_on_ranks [KEYS]`, or alone.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unordered_map>
#include <vector>

#include <creek/core/objects/object_space.hpp>
#include <creek/mpi.hpp>

namespace {

using update = std::pair<std::string, long>;

struct shard {
  std::unordered_map<std::string, long> totals;
  // Many updates in one message cost little more than one.
  void add(const std::vector<update>& some) {
    for (const auto& [key, value] : some) totals[key] += value;
  }
  long find(const std::string& key) const {
    const auto found = totals.find(key);
    return found == totals.end() ? 0 : found->second;
  }
  std::size_t size() const { return totals.size(); }
};

}  // namespace

int main(int count, char** arguments) {
  const int keys = count > 1 ? std::atoi(arguments[1]) : 1000;
  return creek::ranks(count, arguments, [&](creek::mpi_communicator& all) {
    creek::object_space space(all);
    // Rank 0 makes the shards; all ranks get their addresses.
    const auto table =
        space.bcast(all.rank() == 0 ? space.make_on_all<shard>() : creek::global_group<shard>(), 0);
    std::vector<std::vector<update>> updates(static_cast<std::size_t>(table.size()));
    for (int i = 0; i < keys; ++i) {
      updates[static_cast<std::size_t>(i % table.size())].emplace_back("key " + std::to_string(i),
                                                                       i + all.rank());
    }
    for (int i = 0; i < table.size(); ++i) {
      table[i].post<&shard::add>(updates[static_cast<std::size_t>(i)]);
    }
    space.barrier();  // all posts of all ranks have been served
    const long ranks = table.size(), found = table[1 % table.size()].call<&shard::find>("key 1");
    const auto size = table.reduce<&shard::size>([](auto a, auto b) { return a + b; });
    if (all.rank() == 0) std::printf("%zu keys on %ld ranks, key 1: %ld\n", size, ranks, found);
    const bool is_right = size == static_cast<std::size_t>(keys) &&
                          found == (keys > 1 ? ranks + ranks * (ranks - 1) / 2 : 0);
    return is_right ? 0 : 1;
  });
}

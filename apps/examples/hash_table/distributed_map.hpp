// SPDX-License-Identifier: Apache-2.0
// A hash table whose entries live on workers: the keys are divided into shards, each an object on a
// worker (remote.hpp), and operations on an entry are sent there. No entry is ever locked, and none
// leaves the cache of its worker.
//
// One operation is one message and, if the caller waits for it, one back, which costs more than an
// uncontended lock. The forms ..._all send all keys of a shard in one message; post_... do not
// wait.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <creek/core/charge.hpp>
#include <creek/tasking.hpp>
#include <creek/tasking/hash.hpp>

namespace creek::hash_table {

/// A handle like remote<T>: copyable, usable from any thread, const or not. The entries live as
/// long as the last handle and the runtime; after that every operation throws usage_error.
///
/// K needs equality, and a hash as default_hash() makes one; on a runtime whose runs repeat, as
/// repeatable_hash() does, so that keys have the same worker in every run. K and V are copyable;
/// while both are trivially copyable and small, a message carries them itself.
///
/// Operations on one key run one at a time, those of one caller in the order in which it made them,
/// except for_each, gather and size, which go through a tree of shards: call barrier() in between.
/// post_put and post_update travel in batches where the types allow: a little later, by the rules
/// of creek::mergeable. An exception that an update throws is rethrown to the waiting caller; one
/// of a post_... ends the program. The async_..._all forms are for use inside a runtime; the others
/// may be called by any thread.
template <class K, class V>
class distributed_map {
 public:
  struct entry {
    K key;
    V value;
    friend bool operator==(const entry&, const entry&) = default;
  };

  /// Creates `shards` shards on the current runtime's workers in turn; 0 creates one per worker.
  /// Throws usage_error on a negative number, or outside a runtime.
  explicit distributed_map(int shards = 0) : distributed_map(homes_of(shards)) {}
  /// Creates a shard on each of these workers; a worker may be named more than once. Throws
  /// usage_error if the list is empty or names a worker that does not exist.
  explicit distributed_map(const std::vector<core_id>& homes)
      : shards_(make_group<table>(homes, {}, std::size_t{0}, hash_)) {}

  int shards() const noexcept { return shards_.size(); }
  /// Returns the worker on which the key's entry lives, if there is an entry.
  core_id home(const K& key) const { return shard_of(key).core(); }

  // --- One key ----------------------------------------------------------------------------------

  /// Returns a copy of the key's value, or nullopt if it has no entry.
  std::optional<V> get(const K& key) const { return shard_of(key).call(get_here, key); }
  future<std::optional<V>> async_get(const K& key) const {
    return shard_of(key).async(get_here, key);
  }

  /// Makes an entry or replaces its value. Returns true if the entry is new.
  bool put(const K& key, const V& value) const {
    return shard_of(key).call(put_here, entry{key, value});
  }
  future<bool> async_put(const K& key, const V& value) const {
    return shard_of(key).async(put_here, entry{key, value});
  }
  void post_put(const K& key, const V& value) const {
    post_soon(shard_of(key), put_here, entry{key, value});
  }

  /// Calls f(value) where the entry lives, with a new V{} if there was no entry, and returns f's
  /// result, decayed. The entry exists afterwards even if f throws.
  template <class F>
  auto update(const K& key, F f) const {
    return shard_of(key).call(update_here<F>{std::move(f)}, key);
  }
  template <class F>
  auto async_update(const K& key, F f) const {
    return shard_of(key).async(update_here<F>{std::move(f)}, key);
  }
  template <class F>
  void post_update(const K& key, F f) const {
    post_soon(shard_of(key), update_here<F>{std::move(f)}, key);
  }

  /// Erases the key's entry. Returns true if there was one.
  bool erase(const K& key) const { return shard_of(key).call(erase_here, key); }
  future<bool> async_erase(const K& key) const { return shard_of(key).async(erase_here, key); }
  void post_erase(const K& key) const { shard_of(key).post(erase_here, key); }

  // --- Many keys: one message per shard that has any of them ------------------------------------

  /// Returns the values in the order of the keys, as do all functions that follow.
  std::vector<std::optional<V>> get_all(std::span<const K> keys) const {
    return async_get_all(keys).get();
  }
  future<std::vector<std::optional<V>>> async_get_all(std::span<const K> keys) const {
    return in_parts(keys, get_here);
  }

  std::vector<bool> put_all(std::span<const entry> entries) const {
    return async_put_all(entries).get();
  }
  future<std::vector<bool>> async_put_all(std::span<const entry> entries) const {
    return in_parts(entries, put_here);
  }
  void post_put_all(std::span<const entry> entries) const { post_parts(entries, put_here); }

  /// Returns the results of f, one per key, or nothing if f returns nothing. If f throws, the
  /// remaining keys of that shard are skipped; the first exception is rethrown after all shards
  /// have finished.
  template <class F>
  auto update_all(std::span<const K> keys, F f) const {
    return async_update_all(keys, std::move(f)).get();
  }
  template <class F>
  auto async_update_all(std::span<const K> keys, F f) const {
    return in_parts(keys, update_here<F>{std::move(f)});
  }
  template <class F>
  void post_update_all(std::span<const K> keys, F f) const {
    post_parts(keys, update_here<F>{std::move(f)});
  }

  std::vector<bool> erase_all(std::span<const K> keys) const { return async_erase_all(keys).get(); }
  future<std::vector<bool>> async_erase_all(std::span<const K> keys) const {
    return in_parts(keys, erase_here);
  }
  void post_erase_all(std::span<const K> keys) const { post_parts(keys, erase_here); }

  /// Blocks until all operations that the caller posted before are done.
  void barrier() const {
    std::vector<future<void>> reached;
    for (int i = 0; i < shards_.size(); ++i) reached.push_back(shards_[i].async([](table&) {}));
    for (auto& each : reached) each.get();
  }

  // --- All entries ------------------------------------------------------------------------------

  /// Calls f(key, value) for every entry where it lives: one after the other within a shard,
  /// several shards at once. All shards call the same f, as const.
  template <class F>
  void for_each(F f) const {
    shards_.step(visit_here<F>{std::move(f)});
  }
  template <class F>
  future<void> async_for_each(F f) const {
    return shards_.async_step(visit_here<F>{std::move(f)});
  }
  /// Returns copies of all entries, shard by shard.
  std::vector<entry> gather() const {
    std::vector<entry> all;
    for (std::vector<entry>& some : shards_.map(copy_here)) {
      all.insert(all.end(), std::move_iterator(some.begin()), std::move_iterator(some.end()));
    }
    return all;
  }
  /// Returns whether each entry is in the shard in which its key is searched for.
  bool verify() const {
    bool agrees = true;
    for (int i = 0; i < shards_.size(); ++i) {
      const auto shard = static_cast<std::size_t>(i);
      for (const entry& each : shards_[i].call(copy_here)) agrees &= index_of(each.key) == shard;
    }
    return agrees;
  }
  std::size_t size() const {
    return shards_.reduce([](table& here) { return here.size(); }, std::plus{});
  }

 private:
  /// Hashes keys with the secret of the runtime in which the map is made.
  struct hasher {
    const hash_secret* secret = &current_hash_secret();
    std::size_t operator()(const K& key) const { return hash_with(*secret, key); }
  };
  using table = std::unordered_map<K, V, hasher>;

  /// Posts f(shard, item), in a batch if the types allow.
  template <class F, class Item>
  static void post_soon(const remote<table>& shard, F f, Item item) {
    if constexpr (std::is_empty_v<F> && std::is_nothrow_move_constructible_v<Item>) {
      shard.post_batched(std::move(f), std::move(item));
    } else {
      shard.post(std::move(f), std::move(item));
    }
  }

  // Functions that run on the shard's worker. `call` and similar functions move arguments there.

  static constexpr auto get_here = [](table& here, const K& key) -> std::optional<V> {
    charge(work::table_probe, 1);
    const auto found = here.find(key);
    if (found == here.end()) return std::nullopt;
    return found->second;
  };
  static constexpr auto put_here = [](table& here, entry added) -> bool {
    charge(work::table_probe, 1);
    return here.insert_or_assign(std::move(added.key), std::move(added.value)).second;
  };
  static constexpr auto erase_here = [](table& here, const K& key) -> bool {
    charge(work::table_probe, 1);
    return here.erase(key) > 0;
  };
  static constexpr auto copy_here = [](const table& here) {
    std::vector<entry> all;
    all.reserve(here.size());
    for (const auto& [key, value] : here) all.push_back({key, value});
    charge(work::byte_copied, static_cast<std::int64_t>(all.size() * sizeof(entry)));
    return all;
  };
  template <class F>
  struct update_here {
    [[no_unique_address]] F f;
    auto operator()(table& here, K key) {
      charge(work::table_probe, 1);
      return std::invoke(f, here[std::move(key)]);
    }
  };
  template <class F>
  struct visit_here {
    F f;
    void operator()(table& here) const {
      charge(work::element_visited, static_cast<std::int64_t>(here.size()));
      for (auto& [key, value] : here) std::invoke(f, key, value);
    }
  };
  /// Runs one of these functions for each of its items.
  template <class Item, class Work>
  struct part_here {
    using result = std::invoke_result_t<Work&, table&, Item>;
    std::vector<Item> items;
    Work work;
    auto operator()(table& here) {
      charge(creek::work::byte_copied, static_cast<std::int64_t>(items.size() * sizeof(Item)));
      if constexpr (std::is_void_v<result>) {
        for (Item& each : items) work(here, std::move(each));
      } else {
        std::vector<result> results;
        results.reserve(items.size());
        for (Item& each : items) results.push_back(work(here, std::move(each)));
        return results;
      }
    }
  };

  static std::vector<core_id> homes_of(int shards) {
    if (shards < 0) {
      throw usage_error("distributed_map: " + std::to_string(shards) +
                        " shards; give a positive number, or 0 for one per worker");
    }
    const int workers = static_cast<int>(worker_count());
    std::vector<core_id> homes;
    for (int i = 0; i < (shards > 0 ? shards : workers); ++i) homes.push_back(core_id{i % workers});
    return homes;
  }

  /// Returns the current runtime's hasher. Throws usage_error outside a runtime.
  static hasher hasher_here() {
    ext::require_executor("distributed_map");
    return {};
  }

  static const K& key_of(const K& key) { return key; }
  static const K& key_of(const entry& with) { return with.key; }

  /// Returns the shard by the upper bits of the hash; tables use the hash modulo their sizes.
  std::size_t index_of(const K& key) const {
    __extension__ using wide = unsigned __int128;
    const auto shards = static_cast<std::uint64_t>(shards_.size());
    return static_cast<std::size_t>((wide{hash_(key)} * shards) >> 64);
  }
  const remote<table>& shard_of(const K& key) const {
    return shards_[static_cast<int>(index_of(key))];
  }

  template <class Item>
  std::vector<std::vector<Item>> divide(std::span<const Item> items) const {
    const auto shards = static_cast<std::size_t>(shards_.size());
    std::vector<std::vector<Item>> parts(shards);
    const std::size_t expected = std::min(items.size(), 8 + 2 * items.size() / shards);
    for (auto& each : parts) each.reserve(expected);
    for (const Item& each : items) parts[index_of(key_of(each))].push_back(each);
    return parts;
  }

  template <class Item, class Work>
  void post_parts(std::span<const Item> items, const Work& work) const {
    std::vector<std::vector<Item>> parts = divide(items);
    for (int i = 0; i < shards_.size(); ++i) {
      auto& part = parts[static_cast<std::size_t>(i)];
      if (!part.empty()) shards_[i].post(part_here<Item, Work>{std::move(part), work});
    }
  }

  template <class Item, class Work>
  auto in_parts(std::span<const Item> items, const Work& work) const {
    using part = part_here<Item, Work>;
    using result = typename part::result;
    std::vector<std::vector<Item>> parts = divide(items);
    std::vector<future<std::invoke_result_t<part&, table&>>> sent;
    std::vector<std::size_t> sent_as(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].empty()) continue;
      sent_as[i] = sent.size();
      sent.push_back(shards_[static_cast<int>(i)].async(part{std::move(parts[i]), work}));
    }
    auto all = when_all(std::move(sent));
    if constexpr (std::is_void_v<result>) {
      return all.then([](const auto&) {});
    } else {
      std::vector<std::size_t> part_of_each;
      part_of_each.reserve(items.size());
      for (const Item& each : items) part_of_each.push_back(sent_as[index_of(key_of(each))]);
      return all.then([from = std::move(part_of_each)](std::vector<std::vector<result>> found) {
        std::vector<std::size_t> next(found.size());
        std::vector<result> merged;
        merged.reserve(from.size());
        for (const std::size_t i : from) {
          merged.push_back(std::move(found[i][next[i]++]));
        }
        return merged;
      });
    }
  }

  hasher hash_ = hasher_here();
  group<table> shards_;
};

}  // namespace creek::hash_table

// SPDX-License-Identifier: Apache-2.0
// Aggregation with many groups: sums over the rows of each key.
//
// Three ways, chosen by the range of the keys; the result does not depend on the way:
// - an array over the range per worker, added up at the end, while such an array is small;
// - else pairs of key and summand are partitioned by ranges of the key, and each part is added up
//   in its section of one array;
// - if the keys are too far apart for an array, parts are made by a hash and hold hash tables.
// No two workers write to one part, so there are no locks. A run of rows with the same key makes
// one pair, so that a table in the order of the key costs one pair per group.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <concepts>
#include <creek/tasking/parallel_for.hpp>
#include <creek/tasking/this_worker.hpp>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "gather_rows.hpp"
#include "key_hash.hpp"
#include "row_mask.hpp"
#include "tpch/columns/buffer.hpp"
#include "tpch/columns/packed.hpp"
#include "tpch/loading/in_order.hpp"

namespace creek::tpch {

/// Aggregate kept per group: A{} is the aggregate of no rows, a.join(b) adds the rows of b in any
/// order, and a.any() returns whether there were any.
template <class A>
concept group_aggregate = std::is_trivially_copyable_v<A> && std::default_initializable<A> &&
    requires(A to, const A& from) {
  to.join(from);
  { from.any() } -> std::same_as<bool>;
};

struct group_count {
  std::uint64_t rows = 0;

  void join(const group_count& other) noexcept { rows += other.rows; }
  [[nodiscard]] bool any() const noexcept { return rows != 0; }
};

/// Sum of a group. The caller ensures that the sum fits Number.
template <class Number>
struct group_sum {
  Number sum = 0;
  std::uint64_t rows = 0;

  void join(const group_sum& other) noexcept {
    sum += other.sum;
    rows += other.rows;
  }
  [[nodiscard]] bool any() const noexcept { return rows != 0; }
};

template <class Number>
struct group_least {
  Number least = 0;
  std::uint64_t rows = 0;

  void join(const group_least& other) noexcept {
    if (rows == 0 || (other.rows != 0 && other.least < least)) least = other.least;
    rows += other.rows;
  }
  [[nodiscard]] bool any() const noexcept { return rows != 0; }
};

/// The range of keys from least to greatest, both included.
struct key_range {
  std::int64_t least = 0;
  std::int64_t greatest = 0;

  [[nodiscard]] static key_range of(const packed& column) noexcept {
    return {column.least(), column.greatest()};
  }
  /// Returns the range of keys 0 ... count-1, such as indices into a key_index.
  [[nodiscard]] static key_range below(std::size_t count) noexcept {
    return {0, static_cast<std::int64_t>(std::max<std::size_t>(count, 1) - 1)};
  }
};

/// Limits up to which each way is used. The defaults suit tables; tests set others.
struct group_limits {
  std::uint64_t array_bytes = std::uint64_t{8} << 20;  ///< maximum size of an array per worker
  std::uint64_t keys_a_row = 16;  ///< one array for all while the range has at most so many
};

template <group_aggregate A>
class groups {
 public:
  /// Adds up the rows as group_sums does.
  template <class Scan>
  groups(std::size_t rows, key_range keys, Scan&& scan, const group_limits& limits)
      : least_(static_cast<std::uint64_t>(keys.least)), last_(offset_of(keys.greatest)) {
    choose_way(rows, limits);
    if (own_arrays_) {
      add_in_own_arrays(rows, scan);
    } else {
      add_in_parts(rows, scan);
    }
  }

  /// Returns the aggregate of the key's rows, or null if there were none. Any thread.
  [[nodiscard]] const A* find(std::int64_t key) const noexcept {
    const std::uint64_t offset = offset_of(key);
    if (offset > last_) return nullptr;
    if (dense_) {
      const A& found = array()[offset];
      return found.any() ? &found : nullptr;
    }
    const auto& part = parts_[part_of(offset)];
    const auto at = std::ranges::lower_bound(part, offset, {}, &entry::offset);
    return at != part.end() && at->offset == offset ? &at->value : nullptr;
  }

  /// Calls emit(key, aggregate, list) for every group, in parallel; emit appends to the list.
  /// Returns all lists as one, in an order that does not depend on the workers: that of the keys
  /// where way() is an array, else one that depends on the secret of the process (hash_key).
  template <class T, class Emit>
  [[nodiscard]] std::vector<T> gather(Emit&& emit) const {
    if (dense_) {
      return gather_rows<T>(keys_in_range(), [&](const row_block& block, std::vector<T>& to) {
        for (std::size_t i = block.first; i < block.first + block.rows; ++i) {
          if (array()[i].any()) emit(key_of(i), array()[i], to);
        }
      });
    }
    std::vector<std::vector<T>> lists(parts_.size());
    parallel_for(std::size_t{0}, parts_.size(), [&](std::size_t p) {
      for (const entry& of : parts_[p]) emit(key_of(of.offset), of.value, lists[p]);
    });
    std::vector<T> all;
    for (const std::vector<T>& list : lists) all.insert(all.end(), list.begin(), list.end());
    return all;
  }

  /// "an array" or "hash tables", for the steps of a query.
  [[nodiscard]] const char* way() const noexcept { return dense_ ? "an array" : "hash tables"; }
  [[nodiscard]] std::size_t bytes() const noexcept {
    std::size_t all = dense_ ? array_.size() : 0;
    for (const auto& part : parts_) all += part.size() * sizeof(entry);
    return all;
  }

 private:
  struct entry {
    std::uint64_t offset = 0;  // distance of the key from the smallest key
    A value{};
  };
  using parts = std::vector<std::vector<entry>>;

  void choose_way(std::size_t rows, const group_limits& limits) {
    own_arrays_ = last_ < limits.array_bytes / sizeof(A);
    dense_ = own_arrays_ || last_ / limits.keys_a_row < rows;
    if (own_arrays_) return;
    constexpr std::size_t rows_per_part = 1 << 13, max_parts = 1 << 10;
    const std::size_t wanted = std::clamp<std::size_t>(rows / rows_per_part, 1, max_parts);
    if (dense_) {
      while ((last_ >> shift_) >= wanted) ++shift_;
      parts_.resize(static_cast<std::size_t>(last_ >> shift_) + 1);
    } else {
      parts_.resize(std::bit_ceil(wanted));
      shift_ = 64 - std::countr_zero(parts_.size());
    }
  }

  [[nodiscard]] std::uint64_t offset_of(std::int64_t key) const noexcept {
    return static_cast<std::uint64_t>(key) - least_;
  }
  [[nodiscard]] std::int64_t key_of(std::uint64_t offset) const noexcept {
    return static_cast<std::int64_t>(offset + least_);
  }
  [[nodiscard]] std::size_t keys_in_range() const noexcept {
    return static_cast<std::size_t>(last_) + 1;
  }
  [[nodiscard]] std::size_t part_of(std::uint64_t offset) const noexcept {
    if (dense_) return static_cast<std::size_t>(offset >> shift_);
    return shift_ == 64 ? 0 : static_cast<std::size_t>(hash_key(offset) >> shift_);
  }
  [[nodiscard]] A* array() const noexcept { return reinterpret_cast<A*>(array_.data()); }

  [[nodiscard]] static buffer new_array(std::size_t size) {
    buffer memory(size * sizeof(A));
    std::uninitialized_fill_n(reinterpret_cast<A*>(memory.data()), size, A{});
    return memory;
  }

  template <class Scan>
  void add_in_own_arrays(std::size_t rows, Scan& scan) {
    std::vector<buffer> arrays(worker_count());
    over_blocks_by_worker(rows, [&](std::size_t worker, const row_block& block) {
      buffer& memory = arrays[worker];
      if (memory.data() == nullptr) memory = new_array(keys_in_range());
      A* const mine = reinterpret_cast<A*>(memory.data());
      const auto emit = [mine, least = least_, last = last_](std::int64_t key, const A& value) {
        const std::uint64_t offset = static_cast<std::uint64_t>(key) - least;
        if (offset <= last) mine[offset].join(value);
      };
      scan(block, emit);
    });
    std::erase_if(arrays, [](const buffer& memory) { return memory.data() == nullptr; });
    if (arrays.empty()) arrays.push_back(new_array(keys_in_range()));
    array_ = std::move(arrays.front());
    parallel_for_range(std::size_t{0}, keys_in_range(), [&](std::size_t first, std::size_t last) {
      for (std::size_t a = 1; a < arrays.size(); ++a) {
        const A* const from = reinterpret_cast<const A*>(arrays[a].data());
        for (std::size_t i = first; i < last; ++i) array()[i].join(from[i]);
      }
    });
  }

  template <class Scan>
  void add_in_parts(std::size_t rows, Scan& scan) {
    std::vector<parts> dealt(worker_count());
    over_blocks_by_worker(rows, [&](std::size_t worker, const row_block& block) {
      parts& mine = dealt[worker];
      mine.resize(parts_.size());
      entry run;
      const auto deal = [&] {
        if (run.value.any()) mine[part_of(run.offset)].push_back(run);
      };
      const auto emit = [&](std::int64_t key, const A& value) {
        const std::uint64_t offset = offset_of(key);
        if (offset > last_) return;
        if (offset != run.offset) {
          deal();
          run = {offset, A{}};
        }
        run.value.join(value);
      };
      scan(block, emit);
      deal();
    });
    std::erase_if(dealt, [](const parts& of) { return of.empty(); });
    if (dense_) array_ = buffer(keys_in_range() * sizeof(A));
    in_order(parts_.size(), [&] {
      return [&](std::size_t p) {
        if (dense_) {
          add_to_array(dealt, p);
        } else {
          add_to_table(dealt, p);
        }
      };
    });
  }

  void add_to_array(std::vector<parts>& dealt, std::size_t p) const {
    const std::size_t first = p << shift_;
    const std::size_t size = std::min(std::size_t{1} << shift_, keys_in_range() - first);
    std::uninitialized_fill_n(array() + first, size, A{});
    for (parts& of : dealt) {
      for (const entry& next : of[p]) array()[next.offset].join(next.value);
      of[p] = {};
    }
  }

  /// Adds up one part in a table with open addressing, at most half full, then sorts it.
  void add_to_table(std::vector<parts>& dealt, std::size_t p) {
    std::size_t entries = 0;
    for (const parts& of : dealt) entries += of[p].size();
    std::vector<entry>& table = parts_[p];
    table.resize(std::bit_ceil(2 * entries + 2));
    const int down = 64 - std::countr_zero(table.size());
    const auto below_part = [this](std::uint64_t hash) { return hash << (64 - shift_); };
    for (parts& of : dealt) {
      for (const entry& next : of[p]) {
        std::size_t at = static_cast<std::size_t>(below_part(hash_key(next.offset)) >> down);
        while (table[at].value.any() && table[at].offset != next.offset) {
          at = (at + 1) % table.size();
        }
        table[at].offset = next.offset;
        table[at].value.join(next.value);
      }
      of[p] = {};
    }
    std::erase_if(table, [](const entry& of) { return !of.value.any(); });
    std::ranges::sort(table, {}, &entry::offset);
  }

  /// Calls visit(worker, block) for each block, never twice at a time with the same worker. Workers
  /// have numbers below worker_count().
  template <class Visit>
  static void over_blocks_by_worker(std::size_t rows, Visit&& visit) {
    std::atomic<std::size_t> workers{0};
    in_order((rows + block_rows - 1) / block_rows, [&] {
      return [&, worker = workers.fetch_add(1, std::memory_order_relaxed)](std::size_t b) {
        visit(worker, row_block{b * block_rows, std::min(block_rows, rows - b * block_rows)});
      };
    });
  }

  std::uint64_t least_, last_;  // the least key, and the distance to the greatest
  bool dense_ = true;
  bool own_arrays_ = true;
  int shift_ = 0;
  buffer array_;
  parts parts_;
};

/// Adds up the rows of a table by key: scan(block, emit) calls emit(key, A) for each row of the
/// block that counts. Keys outside of `keys` are ignored; they only occur if a file changes
/// while it is read. Runs in parallel on the current runtime; several workers call scan at a
/// time.
template <group_aggregate A, class Scan>
[[nodiscard]] groups<A> group_sums(std::size_t rows, key_range keys, Scan&& scan,
                                   const group_limits& limits = {}) {
  return groups<A>(rows, keys, scan, limits);
}

}  // namespace creek::tpch

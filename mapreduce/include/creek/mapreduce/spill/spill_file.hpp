// SPDX-License-Identifier: Apache-2.0
// File for the part of a run's intermediate data that exceeds the memory, without a name, written
// and read in blocks; and the accounting of the memory in use.
#pragma once

#include <atomic>
#include <creek/mapreduce/memory_limit.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace creek::mapreduce {

/// Counts bytes in memory, for `spill_use::peak`, and spilled runs. Any thread.
class spill_meter {
 public:
  void add(std::size_t bytes) noexcept;
  void subtract(std::size_t bytes) noexcept { held_.fetch_sub(bytes, std::memory_order_relaxed); }
  void count_run() noexcept { runs_.fetch_add(1, std::memory_order_relaxed); }

  [[nodiscard]] std::uint64_t peak() const noexcept { return peak_; }
  [[nodiscard]] std::uint64_t runs() const noexcept { return runs_; }

 private:
  std::atomic<std::uint64_t> held_{0}, peak_{0}, runs_{0};
};

/// Bytes charged to a meter, released by the destructor.
class memory_charge {
 public:
  explicit memory_charge(spill_meter& meter) noexcept : meter_(&meter) {}
  memory_charge(const memory_charge&) = delete;
  memory_charge& operator=(const memory_charge&) = delete;
  ~memory_charge() { set(0); }

  void set(std::size_t bytes) noexcept {
    if (bytes > bytes_) meter_->add(bytes - bytes_);
    if (bytes < bytes_) meter_->subtract(bytes_ - bytes);
    bytes_ = bytes;
  }
  void raise_to(std::size_t bytes) noexcept {
    if (bytes > bytes_) set(bytes);
  }

 private:
  spill_meter* meter_;
  std::size_t bytes_ = 0;
};

/// Zeroed pages from the kernel, resident once touched and unmapped by the destructor.
class page_memory {
 public:
  page_memory() = default;
  /// Throws std::bad_alloc.
  explicit page_memory(std::size_t bytes);
  page_memory(page_memory&& other) noexcept;
  page_memory& operator=(page_memory&& other) noexcept;
  ~page_memory();

  /// Gives back the pages between two positions in it, whose bytes are lost.
  void discard(const std::byte* from, const std::byte* to) noexcept;

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Piece of a spill file that is read as a whole: `items` pairs or records of one partition. Or a
/// partition of the pairs that a mapper has in memory at its end; `bytes` is what they have beside
/// their own objects.
struct spill_block {
  std::uint64_t offset = 0;
  std::uint64_t checksum = 0;  ///< XXH3-64
  std::uint32_t bytes = 0;
  std::uint32_t items = 0;
  /// 32 bits of the hash of the first item's key, and the bits in which others differ from it.
  std::uint32_t first_hash = 0;
  std::uint32_t differing = 0;

  /// Returns pairs in the memory of a mapper. Their hashes are not known: they may differ in all
  /// bits.
  [[nodiscard]] static spill_block in_memory(std::size_t mapper, std::size_t pairs,
                                             std::size_t bytes) noexcept;
  [[nodiscard]] bool is_in_memory() const noexcept { return offset >= memory_mark; }
  [[nodiscard]] std::size_t mapper() const noexcept { return offset - memory_mark; }

 private:
  static constexpr std::uint64_t memory_mark = std::uint64_t{1} << 63;
};
using spill_blocks = std::vector<spill_block>;

/// Temporary file in a directory, without a name. Any thread; writers do not wait for each other.
/// Every failure throws creek::error naming the directory; the file's contents are then lost.
class spill_file {
 public:
  explicit spill_file(std::string directory);
  spill_file(const spill_file&) = delete;
  spill_file& operator=(const spill_file&) = delete;
  ~spill_file();

  /// Appends bytes; returns their offset.
  std::uint64_t write(std::span<const std::byte> bytes);
  /// Reads a block to `to`. Throws creek::error (EIO) if it differs from the bytes written.
  void read(const spill_block& block, std::byte* to) const;

  /// Bytes written so far.
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return end_.load(std::memory_order_relaxed);
  }

 private:
  [[noreturn]] void fail(int why, const char* doing) const;

  std::string directory_;
  int descriptor_ = -1;
  std::atomic<std::uint64_t> end_{0};
};

/// Reads blocks one after the other into its own memory.
class block_reader {
 public:
  block_reader(const spill_file& file, spill_meter& meter) : file_(&file), charge_(meter) {}

  /// Returns the bytes of a block, valid until the next call.
  [[nodiscard]] std::span<const std::byte> read(const spill_block& block);

 private:
  const spill_file* file_;
  std::vector<std::byte> bytes_;
  memory_charge charge_;
};

/// Collects items as bytes, by partition, and writes them in large pieces. One task at a time.
class block_writer {
 public:
  /// Writes whenever `buffer` bytes are collected; throws creek::error (ENOMEM) for an item of more
  /// than `largest` bytes. The error message names `limit`.
  block_writer(spill_file& file, spill_meter& meter, std::size_t buffer, std::size_t largest,
               std::size_t limit);

  /// Sets the list, by partition, in which the following blocks are recorded.
  void begin(spill_blocks* parts) noexcept { parts_ = parts; }
  /// Returns the buffer: append an item to it, then call `item`.
  [[nodiscard]] std::vector<std::byte>& bytes() noexcept { return bytes_; }
  /// Ends an item of partition `part`: the bytes appended since the last call; `hash` is the hash
  /// of its key, or a part of it.
  void item(std::size_t part, std::uint32_t hash) {
    if (bytes_.size() > buffer_) make_room();
    if (part != part_ && start_ != block_begin_) cut();
    part_ = part;
    if (items_++ == 0) first_hash_ = hash;
    differing_ |= first_hash_ ^ hash;
    start_ = bytes_.size();
  }
  /// Writes everything to the file; called after the last item of a run.
  void finish();

 private:
  struct pending {
    std::size_t part, begin, end;
    std::uint32_t items, first_hash, differing;
  };

  void make_room();
  void cut();
  void write_out();

  spill_file* file_;
  spill_meter* meter_;
  std::size_t buffer_, largest_, limit_;
  spill_blocks* parts_ = nullptr;
  std::vector<std::byte> bytes_;
  std::vector<pending> pending_;
  std::size_t part_ = 0;
  std::size_t block_begin_ = 0;  // start of the block being collected
  std::size_t start_ = 0;        // start of the item being appended
  std::uint32_t items_ = 0, first_hash_ = 0, differing_ = 0;
  memory_charge charge_;
};

}  // namespace creek::mapreduce

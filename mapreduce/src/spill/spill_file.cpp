// SPDX-License-Identifier: Apache-2.0
// Temporary files of a run with a memory limit, and the accounting of its memory.
#include <creek/mapreduce/spill/spill_file.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <creek/core/error.hpp>
#include <cstdlib>
#include <limits>
#include <new>
#include <utility>

namespace creek::mapreduce {
namespace {

/// Opens a file in `directory` that has no name; returns -1 and sets errno on failure.
int open_nameless(const std::string& directory) {
  const int made = open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  // These codes are returned by file systems and kernels without O_TMPFILE.
  if (made >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return made;
  std::string name = directory + "/creek-spill-XXXXXX";
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) unlink(name.c_str());
  return named;
}

std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace

namespace detail {

void check_limit(const memory_limit& limit, std::size_t workers) {
  if (limit.bytes / memory_limit::least < workers) {
    throw usage_error(
        fmt::format("mapreduce: a memory limit of {} bytes is too small for {} worker{}: at least "
                    "{} bytes, or fewer workers",
                    limit.bytes, workers, workers == 1 ? "" : "s", workers * memory_limit::least));
  }
  if (limit.directory.empty()) {
    throw usage_error("mapreduce: a memory limit needs a directory to spill to");
  }
}

}  // namespace detail

void spill_meter::add(std::size_t bytes) noexcept {
  const std::uint64_t now = held_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::uint64_t peak = peak_.load(std::memory_order_relaxed);
  while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

page_memory::page_memory(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(at);
}

page_memory::page_memory(page_memory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

page_memory& page_memory::operator=(page_memory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void page_memory::discard(const std::byte* from, const std::byte* to) noexcept {
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto begin = (static_cast<std::size_t>(from - data_) + page - 1) / page * page;
  const auto end = static_cast<std::size_t>(to - data_) / page * page;
  if (begin < end) madvise(data_ + begin, end - begin, MADV_DONTNEED);
}

page_memory::~page_memory() {
  if (data_ != nullptr) munmap(data_, size_);
}

spill_block spill_block::in_memory(std::size_t mapper, std::size_t pairs,
                                   std::size_t bytes) noexcept {
  constexpr std::size_t largest = std::numeric_limits<std::uint32_t>::max();
  return {.offset = memory_mark + mapper,
          .bytes = static_cast<std::uint32_t>(std::min(bytes, largest)),
          .items = static_cast<std::uint32_t>(pairs),
          .differing = ~0u};
}

spill_file::spill_file(std::string directory)
    : directory_(std::move(directory)), descriptor_(open_nameless(directory_)) {
  if (descriptor_ < 0) fail(errno, "make");
}

spill_file::~spill_file() {
  if (descriptor_ >= 0) close(descriptor_);
}

void spill_file::fail(int why, const char* doing) const {
  throw error(why, fmt::format("{}: cannot {} a spill file", directory_, doing));
}

std::uint64_t spill_file::write(std::span<const std::byte> bytes) {
  const std::uint64_t begin = end_.fetch_add(bytes.size(), std::memory_order_relaxed);
  for (std::uint64_t at = begin; !bytes.empty();) {
    const ssize_t written = pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(written < 0 ? errno : ENOSPC, "write");
    at += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return begin;
}

void spill_file::read(const spill_block& block, std::byte* to) const {
  for (std::size_t done = 0; done < block.bytes;) {
    const ssize_t got =
        pread(descriptor_, to + done, block.bytes - done, static_cast<off_t>(block.offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail(got < 0 ? errno : EIO, "read");
    done += static_cast<std::size_t>(got);
  }
  if (checksum_of({to, block.bytes}) != block.checksum) fail(EIO, "read what was written to");
}

std::span<const std::byte> block_reader::read(const spill_block& block) {
  if (bytes_.size() < block.bytes) {
    bytes_ = {};  // first, so that there are never two buffers
    bytes_.resize(block.bytes);
    charge_.set(bytes_.capacity());
  }
  file_->read(block, bytes_.data());
  return std::span(bytes_).first(block.bytes);
}

block_writer::block_writer(spill_file& file, spill_meter& meter, std::size_t buffer,
                           std::size_t largest, std::size_t limit)
    : file_(&file),
      meter_(&meter),
      buffer_(buffer),
      largest_(largest),
      limit_(limit),
      charge_(meter) {
  bytes_.reserve(buffer);
  charge_.set(bytes_.capacity());
}

void block_writer::make_room() {
  if (bytes_.size() - start_ > largest_) {
    throw error(ENOMEM, fmt::format("mapreduce: a pair of {} bytes is too large for a memory limit "
                                    "of {} bytes",
                                    bytes_.size() - start_, limit_));
  }
  if (start_ == 0) return;
  cut();
  write_out();
}

void block_writer::cut() {
  if (items_ != 0) {
    pending_.push_back({part_, block_begin_, start_, items_, first_hash_, differing_});
  }
  block_begin_ = start_;
  items_ = differing_ = 0;
}

/// Writes all whole blocks; the bytes appended after them move to the front.
void block_writer::write_out() {
  charge_.raise_to(bytes_.capacity());
  const std::uint64_t offset = file_->write(std::span(bytes_).first(block_begin_));
  for (const pending& one : pending_) {
    const auto bytes = std::span(bytes_).subspan(one.begin, one.end - one.begin);
    parts_[one.part].push_back({offset + one.begin, checksum_of(bytes),
                                static_cast<std::uint32_t>(bytes.size()), one.items, one.first_hash,
                                one.differing});
  }
  pending_.clear();
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(block_begin_));
  start_ -= block_begin_;
  block_begin_ = 0;
}

void block_writer::finish() {
  cut();
  if (block_begin_ != 0) write_out();
  meter_->count_run();
}

}  // namespace creek::mapreduce

// SPDX-License-Identifier: Apache-2.0
// Growth of tracks, and the session that owns them.
#include <sys/mman.h>

#include <new>

#include <creek/core/io/atomic_file.hpp>
#include <creek/core/measuring/trace.hpp>

namespace creek::trace {

track::track(std::string title, std::size_t max_events, std::uint32_t number)
    : max_events_(max_events), title_(std::move(title)), number_(number) {}

track::~track() {
  while (first_ != nullptr) {
    chunk* const next = first_->next;
    munmap(first_, sizeof(chunk));
    first_ = next;
  }
}

// At the limit the chunk is not replaced and `used_` stays at a multiple of its size, so every
// later record() comes here and is counted.
bool track::next_chunk() noexcept {
  void* memory = MAP_FAILED;
  if (used_ + chunk_events <= max_events_) {
    memory = mmap(nullptr, sizeof(chunk), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  }
  if (memory == MAP_FAILED) {
    max_events_ = used_;  // do not ask again: a trace with a hole would be no prefix
    dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return false;
  }
  chunk* const fresh = new (memory) chunk;
  fresh->next = nullptr;
  (newest_ == nullptr ? first_ : newest_->next) = fresh;
  newest_ = fresh;
  return true;
}

session::session(options chosen) : options_(std::move(chosen)) {
  // Reading the clock also takes the first of the two anchors that the scale needs at the end.
  if (options_.base == time_base::host) start_ = tick_clock::now();
}

track& session::add_track(std::string title) {
  const std::lock_guard lock(mutex_);
  return tracks_.emplace_back(std::move(title), options_.bytes_per_track / sizeof(event),
                              static_cast<std::uint32_t>(tracks_.size() + 1));
}

name session::intern(std::string_view text) {
  const std::lock_guard lock(mutex_);
  auto found = names_.find(text);
  if (found == names_.end()) found = names_.emplace(text).first;
  return {name::interned{}, found->c_str()};
}

std::uint64_t session::dropped() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t total = 0;
  for (const track& t : tracks_) total += t.dropped();
  return total;
}

std::size_t session::size() const {
  const std::lock_guard lock(mutex_);
  std::size_t total = 0;
  for (const track& t : tracks_) total += t.size();
  return total;
}

void session::write(const std::filesystem::path& path) const {
  atomic_file out(path);
  write_to(out);
  out.commit();
}

}  // namespace creek::trace

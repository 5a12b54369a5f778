// SPDX-License-Identifier: Apache-2.0
// The event trace: what every worker did and when, for Perfetto and chrome://tracing.
//
//     trace::session session;                              // somewhere that outlives the workers
//     trace::track* track = &session.add_track("worker 0");  // one per worker; null: tracing off
//     trace::begin(track, "task", id);  ...  trace::end(track);
//     session.write("out.json");                           // at any time, whole or not at all
//
// Recording with a null track is one predictable branch; otherwise it is a time stamp and a 32-byte
// store, without a lock or an atomic read-modify-write.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include <creek/core/measuring/clock.hpp>

namespace creek {
class atomic_file;
}

namespace creek::trace {

/// The name of an event: a string literal, or a string that a session keeps (session::intern). The
/// trace stores only the pointer, so nothing with a shorter life is accepted.
class name {
 public:
  consteval name(const char* literal) : text_(literal) {}  // NOLINT: implicit from literals
  [[nodiscard]] constexpr const char* c_str() const noexcept { return text_; }

 private:
  friend class session;
  struct interned {};
  name(interned, const char* text) noexcept : text_(text) {}
  const char* text_;
};

enum class event_kind : std::uint8_t { begin, end, instant, flow_start, flow_end, counter };

/// Stands for "no argument" in the calls below.
inline constexpr std::int64_t no_argument = std::numeric_limits<std::int64_t>::min();

struct event {
  ticks at;
  const char* text;  // null for `end`
  std::int64_t argument;
  event_kind kind;
  std::uint32_t on = 0;  ///< number of the track to which it belongs; 0: the one that it lies on
};

/// The events of one worker, in the order in which it recorded them. One thread at a time records
/// (hand-over from thread to thread needs a happens-before, which a scheduler has anyway); any
/// thread may read what has been recorded so far. Grows by chunks up to the session's limit, then
/// counts what it drops: the kept events are always the oldest, so a trace is a true prefix.
class track {
 public:
  track(std::string title, std::size_t max_events, std::uint32_t number);
  ~track();
  track(const track&) = delete;
  track& operator=(const track&) = delete;

  void record(event_kind kind, ticks at, const char* text, std::int64_t argument,
              std::uint32_t on = 0) noexcept {
    const std::size_t slot = used_ & (chunk_events - 1);
    if (slot == 0 && !next_chunk()) [[unlikely]]
      return;
    newest_->events[slot] = {at, text, argument, kind, on};
    ++used_;
    published_.store(used_, std::memory_order_release);
  }

  /// Calls `visit(event)` for every event recorded before this call. Any thread.
  template <typename Visitor>
  void for_each(Visitor&& visit) const {
    std::size_t left = published_.load(std::memory_order_acquire);
    if (left == 0) return;  // first_ may be about to be written
    for (const chunk* c = first_;; c = c->next) {
      const std::size_t here = left < chunk_events ? left : chunk_events;
      for (std::size_t i = 0; i < here; ++i) visit(c->events[i]);
      left -= here;
      if (left == 0) return;  // likewise c->next
    }
  }

  [[nodiscard]] const std::string& title() const noexcept { return title_; }
  /// Returns the track's number in its session, from 1.
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  /// Return the number of events kept, and of events dropped at the limit or for want of memory.
  [[nodiscard]] std::size_t size() const noexcept {
    return published_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::uint64_t dropped() const noexcept {
    return dropped_.load(std::memory_order_relaxed);
  }

 private:
  // 256 KiB, mapped populated: page faults one by one would double the cost of an event.
  static constexpr std::size_t chunk_events = std::size_t{1} << 13;
  struct chunk {
    event events[chunk_events];
    chunk* next;
  };

  bool next_chunk() noexcept;

  // Readers follow `first_` and `next` only up to `published_`, whose release store comes after
  // both; so those two need not be atomic.
  std::size_t used_ = 0;
  chunk* newest_ = nullptr;
  chunk* first_ = nullptr;
  std::size_t max_events_;
  std::atomic<std::size_t> published_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::string title_;
  std::uint32_t number_;
};

/// Meaning of a session's time stamps.
enum class time_base : std::uint8_t {
  host,        ///< ticks of tick_clock; written relative to the session's start
  virtual_fs,  ///< femtoseconds of a backend's own clock, every digit written: equal runs, equal
               ///< files
};

struct options {
  std::string process_name = "creek";
  std::size_t bytes_per_track = std::size_t{256} << 20;  ///< 8 million events; in steps of 256 KiB
  time_base base = time_base::host;
};

/// A set of tracks and the file made of them. Tracks live as long as the session. Any thread.
class session {
 public:
  explicit session(options chosen = {});

  /// Adds a track; tracks appear in the order of their adding.
  track& add_track(std::string title);

  /// Keeps a copy of a name that is not a literal (a task's label given at run time); equal names
  /// are kept once. Takes a lock: call it once per name, not once per event.
  name intern(std::string_view text);

  [[nodiscard]] std::uint64_t dropped() const;
  [[nodiscard]] std::size_t size() const;

  /// Writes Chrome's JSON trace format. Tracks that are being recorded are written as far as they
  /// are; a `begin` still open ends at its track's last time stamp, and an `end` without its
  /// `begin` is left out, so every written slice nests. Throws creek::error; then `path` is as
  /// before.
  void write(const std::filesystem::path& path) const;
  /// Writes the same to `out`, which the caller commits.
  void write_to(atomic_file& out) const;

 private:
  options options_;
  ticks start_;
  mutable std::mutex mutex_;  // guards the two containers; recording does not touch them
  std::deque<track> tracks_;
  std::set<std::string, std::less<>> names_;
};

/// Opens a slice on the track; slices of a track nest. A task that moves to another worker must end
/// its slice on the one and begin a new one on the other (connect them by a flow).
inline void begin(track* where, name what, std::int64_t argument = no_argument) noexcept {
  if (where != nullptr) [[unlikely]] {
    where->record(event_kind::begin, tick_clock::now(), what.c_str(), argument);
  }
}

/// Closes the innermost open slice of the track.
inline void end(track* where, std::int64_t argument = no_argument) noexcept {
  if (where != nullptr) [[unlikely]] {
    where->record(event_kind::end, tick_clock::now(), nullptr, argument);
  }
}

/// Records a point in time.
inline void instant(track* where, name what, std::int64_t argument = no_argument) noexcept {
  if (where != nullptr) [[unlikely]] {
    where->record(event_kind::instant, tick_clock::now(), what.c_str(), argument);
  }
}

/// Begins an arrow, from the slice open here to the one open at flow_end with the same
/// name and id (a wait: from its begin to where the task goes on).
inline void flow_start(track* where, name what, std::int64_t id) noexcept {
  if (where != nullptr) [[unlikely]] {
    where->record(event_kind::flow_start, tick_clock::now(), what.c_str(), id);
  }
}
/// Begins an arrow from the slice that was open on `origin` at the time `at`; for a thread that may
/// not record there (a thief: from its victim).
inline void flow_start_on(const track& origin, ticks at, track* where, name what,
                          std::int64_t id) noexcept {
  if (where != nullptr) [[unlikely]] {
    where->record(event_kind::flow_start, at, what.c_str(), id, origin.number());
  }
}
inline void flow_end(track* where, name what, std::int64_t id) noexcept {
  if (where != nullptr) [[unlikely]] {
    where->record(event_kind::flow_end, tick_clock::now(), what.c_str(), id);
  }
}

/// Records the value of a quantity from now on, in the unit that its name says; drawn as a graph of
/// that name. Not bound to a track's slices.
inline void counter(track* where, name what, std::int64_t value) noexcept {
  if (where != nullptr) [[unlikely]] {
    where->record(event_kind::counter, tick_clock::now(), what.c_str(), value);
  }
}

/// Opens a slice for the life of this object.
class [[nodiscard]] scope {
 public:
  scope(track* where, name what, std::int64_t argument = no_argument) noexcept : where_(where) {
    begin(where_, what, argument);
  }
  ~scope() { end(where_); }
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;

 private:
  track* where_;
};

}  // namespace creek::trace

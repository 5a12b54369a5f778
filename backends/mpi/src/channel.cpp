// SPDX-License-Identifier: Apache-2.0
#include <creek/mpi/process.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <creek/core/error.hpp>
#include <creek/core/measuring/clock.hpp>
#include <creek/mpi/processors.hpp>

namespace creek::mpi_backend {

void require(const calls& by, int code, const char* doing) {
  if (code == 0) [[likely]]
    return;
  char text[512];
  by.explain(code, text, sizeof text);
  throw mpi_error(EIO, fmt::format("mpi: {}: {}", doing, text));
}

std::chrono::microseconds spin_time(double processors) {
  const char* const given = std::getenv("CREEK_MPI_SPIN");
  if (given == nullptr || *given == '\0') {
    const bool is_shared = processors > 0 && processors < 1;
    return std::chrono::microseconds(is_shared ? 5 : 200);
  }
  unsigned number = 0;
  const auto [end, fault] = std::from_chars(given, given + std::strlen(given), number);
  if (fault != std::errc{} || *end != '\0') {
    throw usage_error(
        fmt::format("CREEK_MPI_SPIN={}: give a number of microseconds, such as 20", given));
  }
  return std::chrono::microseconds(number);
}

void back_off::pause() {
  constexpr unsigned between_looks_at_the_clock = 8;
  if (!sleeps_ && ++polls_ % between_looks_at_the_clock != 0) return cpu_pause();
  const clock::time_point now = clock::now();
  if (begin_ == clock::time_point{}) begin_ = now;
  const auto waited = now - begin_;
  sleeps_ = waited >= spin_;
  if (sleeps_) std::this_thread::sleep_for(sleep_after(waited, longest_));
}

namespace {

struct machine_share {
  int ranks;
  double processors;
  int first_rank;  ///< on the machine
};
/// Shares out the processors of this machine to the ranks of a communicator that are on it.
machine_share share_machine(const calls& by, void* communicator) {
  void* made = nullptr;
  require(by, by.split_here(communicator, &made), "find the ranks of this machine");
  const std::unique_ptr<void, void (*)(void*)> here(made, by.close);
  const int rank = by.rank(made), ranks = by.size(made);
  const auto broadcast = [&](void* data, std::size_t bytes, int root) {
    request_handle begun;
    require(by, by.begin_broadcast(made, data, bytes, root, &begun), "tell of this machine");
    std::size_t received = 0;
    int from = 0;
    back_off waiting(spin_time(std::thread::hardware_concurrency() / static_cast<double>(ranks)),
                     longest_sleep(bytes));
    for (bool done = false; !done;) {
      require(by, by.test(&begun, &done, &received, &from), "learn of this machine");
      if (!done) waiting.pause();
    }
  };
  std::vector<allowed_processors> allowed(static_cast<std::size_t>(ranks));
  allowed[static_cast<std::size_t>(rank)] = allowed_processors::here();
  for (int root = 0; root < ranks; ++root) {
    broadcast(&allowed[static_cast<std::size_t>(root)], sizeof allowed[0], root);
  }
  int first_rank = by.rank(communicator);
  broadcast(&first_rank, sizeof first_rank, 0);
  return {ranks, share_of_processors(allowed, rank), first_rank};
}

}  // namespace

channel::channel(const calls& by, const void* mpi_comm) : by_(&by) {
  require(by, by.open(mpi_comm, &communicator_), "duplicate a communicator");
  const machine_share share = share_machine(by, communicator_);
  ranks_here_ = share.ranks;
  processors_ = std::max(1, static_cast<int>(share.processors));
  machine_ = share.first_rank;
  spin_ = spin_time(share.processors);
  rank_ = by.rank(communicator_);
  size_ = by.size(communicator_);
  posted_bytes_.resize(static_cast<std::size_t>(size_));
}

channel::channel(channel& of, int color, int key)
    : by_(of.by_),
      ranks_here_(of.ranks_here_),
      processors_(of.processors_),
      machine_(of.machine_),
      is_part_(true),
      spin_(of.spin_) {
  of.require_thread_and_peer(of.rank_);
  if (color < 0) throw usage_error("mpi: a color must not be negative");
  require(*by_, by_->split(of.communicator_, color, key, &communicator_), "split a communicator");
  rank_ = by_->rank(communicator_);
  size_ = by_->size(communicator_);
  posted_bytes_.resize(static_cast<std::size_t>(size_));
}

channel::~channel() {
  // Messages that nobody took: MPI may still read the copies.
  for (posted& each : posted_) {
    if (each.request.done) continue;
    by_->forget(&each.request.handle, false);
    [[maybe_unused]] static std::deque<std::vector<std::byte>> left_behind;
    left_behind.push_back(std::move(each.copy));
  }
  by_->close(communicator_);
}

std::string channel::implementation() const {
  char name[256];
  by_->describe(name, sizeof name);
  return name;
}

void channel::require_thread_and_peer(int peer) const {
  if (std::this_thread::get_id() != owner_) [[unlikely]] {
    throw usage_error(
        "mpi: a communicator is used by the thread that made it; let tasks end before their rank "
        "communicates");
  }
  if (peer < 0 || peer >= size_) [[unlikely]] {
    throw usage_error(fmt::format("mpi: rank {} of {}", peer, size_));
  }
}

void channel::begin_send(const void* data, std::size_t bytes, int to, pending& begun,
                         message_kind kind) {
  require_thread_and_peer(to);
  begun = {.receives = false, .done = bytes == 0, .peer = to, .bytes = bytes};
  if (begun.done) return;  // an empty message is none: its receiver may not know of it
  const int code = by_->begin_send(communicator_, data, bytes, to, kind, &begun.handle);
  begun.done = code != 0;
  require(*by_, code, "send");
}

void channel::begin_receive(void* data, std::size_t bytes, int from, message_kind kind,
                            pending& begun) {
  require_thread_and_peer(from);
  begun = {.receives = true, .done = bytes == 0, .peer = from, .bytes = bytes};
  if (begun.done) return;
  const int code = by_->begin_receive(communicator_, data, bytes, from, kind, &begun.handle);
  begun.done = code != 0;
  require(*by_, code, "receive");
}

void channel::begin_receive_from_any(void* data, std::size_t bytes, pending& begun) {
  require_thread_and_peer(rank_);
  begun = {.receives = true, .done = false, .bytes = bytes, .from_any = true};
  const int code = by_->begin_receive(communicator_, data, bytes, any_rank, message_kind::from_any,
                                      &begun.handle);
  begun.done = code != 0;
  require(*by_, code, "receive");
}

bool channel::test(pending& begun) {
  if (begun.done) return true;
  require_thread_and_peer(begun.from_any ? rank_ : begun.peer);
  std::size_t received = 0;
  int from = any_rank;
  const int code = by_->test(&begun.handle, &begun.done, &received, &from);
  if (code != 0) begun.done = true;
  if (code != 0 && begun.receives && by_->is_truncation(code)) {
    char text[512];
    by_->explain(code, text, sizeof text);
    throw usage_error(
        fmt::format("mpi: the message from rank {}, of which {} bytes are expected, cannot be "
                    "received: {}",
                    begun.peer, begun.bytes, text));
  }
  require(*by_, code, "wait");
  if (begun.done && begun.from_any) {
    begun.peer = from;
    begun.bytes = received;
  } else if (begun.done && begun.receives && received != begun.bytes) {
    throw usage_error(fmt::format("mpi: rank {} sent {} bytes, {} are expected", begun.peer,
                                  received, begun.bytes));
  }
  return begun.done;
}

/// Polls for as long as the data take at a gigabyte per second: MPI copies while it is called. If
/// they take longer or come late, it copies a part of them between two sleeps. Meanwhile the record
/// of this rank says what it waits for.
void channel::finish(pending& begun, operation what) {
  if (test(begun)) return;
  own_activity->begin(what, begun.peer, is_part_);
  const auto copying = std::chrono::microseconds(begun.bytes / 1000);
  back_off waiting(spin_ + copying, longest_sleep(begun.bytes));
  do {
    waiting.pause();
  } while (!test(begun));
  own_activity->end();
}

void channel::wait(pending& begun) {
  finish(begun, begun.receives ? operation::receive : operation::send);
}

void channel::forget(pending& begun) noexcept {
  by_->forget(&begun.handle, begun.receives);
  begun.done = true;
}

void channel::barrier() {
  require_thread_and_peer(rank_);
  pending begun{.done = false, .peer = rank_};
  require(*by_, by_->begin_barrier(communicator_, &begun.handle), "barrier");
  finish(begun, operation::barrier);
}

void channel::broadcast(void* data, std::size_t bytes, int root) {
  require_thread_and_peer(root);
  if (bytes == 0) return;
  pending begun{.done = false, .peer = root, .bytes = bytes};
  require(*by_, by_->begin_broadcast(communicator_, data, bytes, root, &begun.handle), "broadcast");
  finish(begun, operation::broadcast);
}

bool channel::has_room(int to, std::size_t bytes) {
  for (posted& each : posted_) {
    if (test(each.request)) {
      posted_bytes_[static_cast<std::size_t>(each.request.peer)] -= each.copy.size();
      each.copy = {};
    }
  }
  std::erase_if(posted_, [](const posted& each) { return each.request.done; });
  const std::size_t waiting = posted_bytes_[static_cast<std::size_t>(to)];
  return waiting == 0 || waiting + bytes <= mailbox_bytes;
}

bool channel::try_post(const void* data, std::size_t bytes, int to) {
  require_thread_and_peer(to);
  if (bytes == 0) return true;
  if (!has_room(to, bytes)) return false;
  const auto* const from = static_cast<const std::byte*>(data);
  posted& made = posted_.emplace_back(posted{{}, std::vector<std::byte>(from, from + bytes)});
  made.request = {.receives = false, .done = false, .peer = to, .bytes = bytes};
  posted_bytes_[static_cast<std::size_t>(to)] += bytes;
  const int code = by_->begin_send(communicator_, made.copy.data(), bytes, to, message_kind::posted,
                                   &made.request.handle);
  if (code != 0) made.request.done = true;
  require(*by_, code, "post");
  return true;
}

void channel::post(const void* data, std::size_t bytes, int to) {
  if (try_post(data, bytes, to)) return;
  own_activity->begin(operation::post, to, is_part_);
  back_off waiting(spin_, longest_sleep(mailbox_bytes));
  do {
    waiting.pause();
  } while (!try_post(data, bytes, to));
  own_activity->end();
}

bool channel::has_posted(int from) {
  require_thread_and_peer(from);
  bool is_there = false;
  require(*by_, by_->look(communicator_, from, message_kind::posted, &is_there), "probe");
  return is_there;
}

void channel::take(void* data, std::size_t bytes, int from) {
  pending begun;
  begin_receive(data, bytes, from, message_kind::posted, begun);
  finish(begun, operation::take);
}

}  // namespace creek::mpi_backend

// SPDX-License-Identifier: Apache-2.0
// Programs on several machines: a communicator over MPI (3 or newer), with the interface of
// creek/core/messages/communicator.hpp, so that all algorithms on ranks run on it.
//
// A program calls ranks() and is started by the launcher of an MPI, such as
// `mpirun -n 4 ./program`. It needs neither MPI's headers nor its libraries to be built.
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <creek/core/messages/collectives.hpp>
#include <creek/core/messages/message_value.hpp>
#include <creek/core/messages/neighbour_graph.hpp>
#include <creek/core/messages/rank_messages.hpp>
#include <creek/mpi/process.hpp>

namespace creek {

class mpi_communicator;

namespace mpi_backend {

/// Throws usage_error if the graph has another number of ranks.
void require_ranks(const neighbour_graph& graph, int ranks);
/// Returns the number that this rank gets so that neighbours are near; all ranks call it, with the
/// number of their machine.
[[nodiscard]] int number_near_neighbours(mpi_communicator& ranks, int machine,
                                         const neighbour_graph& graph);

/// The memory of a rank, which no other rank can read.
struct memory {
  static constexpr bool shares_addresses = false;
};
}  // namespace mpi_backend

/// The handle of one rank on the others, over a communicator of MPI of its own: messages of the
/// program itself do not meet those of creek. Used by the thread that made it, as MPI's level
/// `funneled` demands: tasks of a runtime do not call it.
///
/// Messages between two ranks arrive in the order they were sent; there are no tags, sizes and
/// types must agree. A send ends when its data may be used again: for a short message that may be
/// before it is received. Sent and posted messages do not mix: each kind has its own receive.
/// Functions throw usage_error for a peer that does not exist and for a message of another size
/// than expected, and creek::error if MPI fails.
class mpi_communicator : public collectives<mpi_communicator> {
 public:
  using memory_type = mpi_backend::memory;
  template <class T>
  static constexpr bool movable_here = false;

  /// A send or receive that was begun; call wait() or test() until it is complete. If one is
  /// destroyed before that, as by an exception, the run has to end.
  class request {
   public:
    request(const request&) = delete;
    request& operator=(const request&) = delete;
    ~request() {
      if (!pending_.done) channel_->forget(pending_);
    }
    void wait() { channel_->wait(pending_); }
    [[nodiscard]] bool test() { return channel_->test(pending_); }

   private:
    friend class mpi_communicator;
    template <class Begin>
    request(mpi_backend::channel& in, Begin&& begin) : channel_(&in) {
      begin(pending_);
    }
    mpi_backend::channel* channel_;
    mpi_backend::channel::pending pending_;
  };

  /// Duplicates the MPI_Comm at an address, or that of all ranks if it is null; see also
  /// creek/mpi/adopt.hpp. MPI must be initialised. Every rank of it calls this.
  explicit mpi_communicator(const mpi_backend::calls& by, const void* mpi_comm = nullptr)
      : channel_(by, mpi_comm) {}
  /// The communicator of the ranks that call this with the same color, which is not negative. All
  /// ranks of `parent` call it; they keep their order.
  mpi_communicator(mpi_communicator& parent, int color) : channel_(parent.channel_, color, 0) {}
  /// The communicator of the same ranks with new numbers, so that neighbours are near: rank() of
  /// it differs from the parent's. Measures the time of messages between machines, by 10 from each
  /// rank to each, then places ranks by place_near(); keeps the numbers if others would save less
  /// than an eighth. Every rank of `parent` calls it with the same graph,
  /// before data is distributed by rank. Throws usage_error if the graph has another number of
  /// ranks.
  mpi_communicator(mpi_communicator& parent, const neighbour_graph& graph)
      : channel_(parent.channel_, 0,
                 mpi_backend::number_near_neighbours(parent, parent.channel_.machine(), graph)) {}

  [[nodiscard]] int rank() const noexcept { return channel_.rank(); }
  [[nodiscard]] int size() const noexcept { return channel_.size(); }
  [[nodiscard]] memory_type& memory() noexcept { return memory_; }
  /// Returns the name and version of the MPI in use.
  [[nodiscard]] std::string implementation() const { return channel_.implementation(); }
  /// Returns the number of processors that are for this rank's workers: those that it may use, of
  /// which it shares each with all ranks of the communicator that may use it, too. At least 1.
  [[nodiscard]] int processors() const noexcept { return channel_.processors(); }

  /// Makes the thread that calls this the one that uses this communicator from now on. If that is
  /// not the one that initialised MPI, MPI's level must be `serialized` or more.
  void use_in_this_thread() noexcept { channel_.use_in_this_thread(); }

  /// Records which part of its work this rank does, at most 31 characters such as "mapping": named
  /// in the line about a rank that ends without a word. Costs a few stores.
  static void doing(const char* stage) noexcept { mpi_backend::own_activity->set_stage(stage); }

  /// Returns the neighbours of this rank, as on the chip (creek/core/messages/communicator.hpp);
  /// messages are the same before and after. Throws usage_error if the graph has another number of
  /// ranks.
  std::vector<int> declare_neighbours(const neighbour_graph& graph) const {
    mpi_backend::require_ranks(graph, size());
    const auto near = graph.of(rank());
    return {near.begin(), near.end()};
  }

  /// Blocks until all ranks have called it as often as this one.
  void barrier() { channel_.barrier(); }

  /// Copies the root's data to all, by MPI's own broadcast.
  template <message_value T>
  void bcast(std::span<T> data, int root) {
    channel_.broadcast(data.data(), data.size_bytes(), root);
  }
  template <message_value T>
  [[nodiscard]] T bcast(T value, int root) {
    bcast(std::span<T>{&value, 1}, root);
    return value;
  }
  template <message_value T>
  void bcast(std::span<T> data, int root, broadcast_kind kind) {
    collectives::bcast(data, root, kind);
  }

  template <message_value T>
  void send(std::span<const T> data, int to) {
    isend(data, to).wait();
  }
  template <message_value T>
  void recv(std::span<T> data, int from) {
    irecv(data, from).wait();
  }
  template <message_value T>
  void send(const T& value, int to) {
    send(std::span<const T>{&value, 1}, to);
  }
  template <message_value T>
  [[nodiscard]] T recv(int from) {
    T value{};
    recv(std::span<T>{&value, 1}, from);
    return value;
  }

  /// Begins to send or receive; the data must stay in place until the request is complete.
  template <message_value T>
  [[nodiscard]] request isend(std::span<const T> data, int to) {
    return request(channel_, [&](mpi_backend::channel::pending& begun) {
      channel_.begin_send(data.data(), data.size_bytes(), to, begun);
    });
  }
  template <message_value T>
  [[nodiscard]] request irecv(std::span<T> data, int from) {
    return request(channel_, [&](mpi_backend::channel::pending& begun) {
      channel_.begin_receive(data.data(), data.size_bytes(), from, mpi_backend::message_kind::sent,
                             begun);
    });
  }

  /// Sends to one rank and receives from another at the same time; either may be this rank itself.
  template <message_value T>
  void exchange(std::span<const T> out, int to, std::span<T> in, int from) {
    request receiving = irecv(in, from);
    request sending = isend(out, to);
    receiving.wait();
    sending.wait();
  }

  /// Sends a copy; waits only while MPI has not taken over a megabyte of copies for that rank.
  /// Short messages it takes over at once, and keeps them, however many, until they are received.
  template <message_value T>
  void post(std::span<const T> data, int to) {
    channel_.post(data.data(), data.size_bytes(), to);
  }
  template <message_value T>
  void take(std::span<T> data, int from) {
    channel_.take(data.data(), data.size_bytes(), from);
  }
  template <message_value T>
  void post(const T& value, int to) {
    channel_.post(&value, sizeof value, to);
  }
  template <message_value T>
  [[nodiscard]] T take(int from) {
    T value{};
    channel_.take(&value, sizeof value, from);
    return value;
  }
  /// Do not wait: return false if there is no room, nothing if nothing has arrived.
  template <message_value T>
  [[nodiscard]] bool try_post(const T& value, int to) {
    return channel_.try_post(&value, sizeof value, to);
  }
  template <message_value T>
  [[nodiscard]] std::optional<T> try_take(int from) {
    if (!channel_.has_posted(from)) return std::nullopt;
    return take<T>(from);
  }

  /// Returns the messages that carry the calls of an object_space; one at a time.
  [[nodiscard]] std::unique_ptr<rank_messages> make_rank_messages() {
    return mpi_backend::make_rank_messages(channel_);
  }

 private:
  mpi_backend::channel channel_;
  [[no_unique_address]] memory_type memory_;
};

/// Runs `body(communicator)` as one rank of an MPI run and returns the exit code of the process: 0,
/// or the largest number that the body returns on any rank. Call it in main(), with its arguments,
/// which MPI may change; MPI is initialised unless it is, and ended. Waits for the other ranks at
/// the end.
///
/// If a rank throws, all ranks end, with exit code 1, or 2 after a usage_error, and one line on
/// standard error names the rank, its machine and the error; the same if a rank is killed, calls
/// exit() or is unreachable, unless the program itself has initialised MPI. For that each rank
/// starts a process, its watcher, by fork(): call this before the program has much memory. Without
/// a launcher there is one rank, and no MPI is needed.
template <class F>
requires std::invocable<F&, mpi_communicator&>
int ranks(int argc, char** argv, F&& body) {
  return mpi_backend::run_rank(argc, argv, [&](const mpi_backend::calls& by) {
    mpi_communicator all(by);
    int code = 0;
    if constexpr (std::convertible_to<std::invoke_result_t<F&, mpi_communicator&>, int>) {
      code = body(all);
    } else {
      body(all);
    }
    return all.allreduce(code, [](int a, int b) { return a > b ? a : b; });
  });
}
/// Same for a program that does not look at its arguments.
template <class F>
requires std::invocable<F&, mpi_communicator&>
int ranks(F&& body) {
  return ranks(0, nullptr, std::forward<F>(body));
}

}  // namespace creek

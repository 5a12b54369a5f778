// SPDX-License-Identifier: Apache-2.0
// The communicator of a simulated rank: the interface of mpi_communicator, so that the collectives
// and algorithms on ranks run on it. Messages may be blank: then they have a size and no content.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <creek/core/messages/collectives.hpp>
#include <creek/core/messages/message_value.hpp>

#include "rank_simulation.hpp"

namespace creek::tool::machines {

/// Message with a size and no content, for work that is charged but not done.
struct blank {
  std::size_t bytes = 0;
};

class model_communicator : public collectives<model_communicator> {
 public:
  struct memory_type {
    static constexpr bool shares_addresses = false;
  };
  template <class T>
  static constexpr bool movable_here = false;

  class request {
   public:
    request(request&& from) noexcept : on_(from.on_), side_(std::exchange(from.side_, {})) {}
    request& operator=(request&&) = delete;
    void wait() { on_->wait(side_); }
    [[nodiscard]] bool test() { return on_->test(side_); }

   private:
    friend class model_communicator;
    request(rank_simulation& on, rank_simulation::side begun) : on_(&on), side_(begun) {}
    rank_simulation* on_;
    rank_simulation::side side_;
  };

  model_communicator(rank_simulation& on, int rank) : on_(&on), rank_(rank) {}

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return on_->size(); }
  [[nodiscard]] exact_time now() const noexcept { return on_->now(); }
  void doing(const char* stage) { on_->doing(stage); }
  /// Charges the time of a computation.
  void compute(units::seconds span) { on_->compute(nearest_exact_time(span)); }

  template <message_value T>
  [[nodiscard]] request isend(std::span<const T> data, int to) {
    return {*on_, on_->begin_send(std::as_bytes(data).data(), data.size_bytes(), to)};
  }
  template <message_value T>
  [[nodiscard]] request irecv(std::span<T> data, int from) {
    return {*on_, on_->begin_receive(std::as_writable_bytes(data).data(), data.size_bytes(), from)};
  }
  [[nodiscard]] request isend(blank data, int to) {
    return {*on_, on_->begin_send(nullptr, data.bytes, to)};
  }
  [[nodiscard]] request irecv(blank data, int from) {
    return {*on_, on_->begin_receive(nullptr, data.bytes, from)};
  }

  template <message_value T>
  void send(std::span<const T> data, int to) {
    isend(data, to).wait();
  }
  template <message_value T>
  void recv(std::span<T> data, int from) {
    irecv(data, from).wait();
  }
  void send(blank data, int to) { isend(data, to).wait(); }
  void recv(blank data, int from) { irecv(data, from).wait(); }
  template <message_value T>
  void exchange(std::span<const T> out, int to, std::span<T> in, int from) {
    request receiving = irecv(in, from);
    request sending = isend(out, to);
    receiving.wait();
    sending.wait();
  }

  /// Blocks until all ranks have called it as often as this one.
  void barrier() {
    (void)allreduce(0, [](int a, int b) { return a + b; });
  }

  void post(int to, int kind, std::vector<std::byte> content) {
    on_->post(to, kind, std::move(content));
  }
  [[nodiscard]] bool has_message() { return on_->has_message(); }
  [[nodiscard]] posted_message take() { return on_->take(); }

 private:
  rank_simulation* on_;
  int rank_;
};

}  // namespace creek::tool::machines

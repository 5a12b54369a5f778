// SPDX-License-Identifier: Apache-2.0
// A communicator of any type behind virtual functions, for code that is compiled once for all of
// them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include <creek/core/messages/collectives.hpp>
#include <creek/core/messages/message_value.hpp>
#include <creek/core/messages/rank_messages.hpp>

namespace creek {

/// A communicator of any type: messages that a rank receives from a rank that it names (send, recv,
/// isend, irecv, exchange), and the collectives. Used by the thread that may use the communicator.
/// Costs a virtual call per message, and an allocation per request.
class any_communicator : public collectives<any_communicator> {
 protected:
  struct begun_message {
    virtual ~begun_message() = default;
    virtual void wait() = 0;
  };
  using begun = std::unique_ptr<begun_message>;

 public:
  class request {
   public:
    void wait() { message_->wait(); }

   private:
    friend class any_communicator;
    explicit request(begun message) : message_(std::move(message)) {}
    begun message_;
  };

  virtual ~any_communicator() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// Records what this rank does, if the communicator has a use for that.
  virtual void doing(const char* stage) = 0;
  /// Returns the messages of an object_space.
  [[nodiscard]] virtual std::unique_ptr<rank_messages> make_rank_messages() = 0;

  template <message_value T>
  void send(std::span<const T> data, int to) {
    begin_send(std::as_bytes(data), to)->wait();
  }
  template <message_value T>
  void recv(std::span<T> data, int from) {
    begin_receive(std::as_writable_bytes(data), from)->wait();
  }
  /// Begins to send or receive; the data must stay in place until the request is complete.
  template <message_value T>
  [[nodiscard]] request isend(std::span<const T> data, int to) {
    return request(begin_send(std::as_bytes(data), to));
  }
  template <message_value T>
  [[nodiscard]] request irecv(std::span<T> data, int from) {
    return request(begin_receive(std::as_writable_bytes(data), from));
  }
  template <message_value T>
  void exchange(std::span<const T> out, int to, std::span<T> in, int from) {
    request receiving = irecv(in, from);
    request sending = isend(out, to);
    receiving.wait();
    sending.wait();
  }

 private:
  virtual begun begin_send(std::span<const std::byte> data, int to) = 0;
  virtual begun begin_receive(std::span<std::byte> data, int from) = 0;
};

/// Wraps one communicator, which must outlive it.
template <class Communicator>
class any_communicator_of final : public any_communicator {
 public:
  explicit any_communicator_of(Communicator& ranks) : ranks_(&ranks) {}
  [[nodiscard]] int rank() const override { return ranks_->rank(); }
  [[nodiscard]] int size() const override { return ranks_->size(); }
  void doing([[maybe_unused]] const char* stage) override {
    if constexpr (requires { ranks_->doing(stage); }) ranks_->doing(stage);
  }
  [[nodiscard]] std::unique_ptr<rank_messages> make_rank_messages() override {
    return creek::make_rank_messages(*ranks_);
  }

 private:
  struct message final : begun_message {
    message(Communicator& ranks, std::span<const std::byte> data, int to)
        : request(ranks.isend(data, to)) {}
    message(Communicator& ranks, std::span<std::byte> data, int from)
        : request(ranks.irecv(data, from)) {}
    void wait() override { request.wait(); }
    typename Communicator::request request;
  };
  begun begin_send(std::span<const std::byte> data, int to) override {
    return std::make_unique<message>(*ranks_, data, to);
  }
  begun begin_receive(std::span<std::byte> data, int from) override {
    return std::make_unique<message>(*ranks_, data, from);
  }

  Communicator* ranks_;
};

}  // namespace creek

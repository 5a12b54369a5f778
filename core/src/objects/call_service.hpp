// SPDX-License-Identifier: Apache-2.0
// The calls between this rank and the others: sends them, runs those that arrive, and finds out
// when none is under way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include <creek/core/function_ref.hpp>
#include <creek/core/messages/rank_messages.hpp>
#include <creek/core/objects/function_table.hpp>
#include <creek/core/objects/pending_reply.hpp>

#include "call_message.hpp"
#include "object_table.hpp"
#include "worker_calls.hpp"

namespace creek::detail {

class call_service final : private block_receiver {
 public:
  call_service(object_space& space, std::unique_ptr<rank_messages> messages);
  call_service(const call_service&) = delete;
  call_service& operator=(const call_service&) = delete;
  ~call_service();

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] object_table& objects() noexcept { return objects_; }
  [[nodiscard]] worker_calls& on_workers() noexcept { return on_workers_; }

  /// Returns the begin of a message to a rank that calls a function, or with null destroys an
  /// object. Waits while too much is under way to that rank, if no call is running here.
  [[nodiscard]] call_writer begin_call(const rank_function* function, int rank,
                                       std::uint64_t object, bool is_answered,
                                       call_writer::block_use blocks);
  /// Sends it; the answer goes to `reply`, if that is not null.
  void end_call(outgoing_message&& message, int rank, pending_reply* reply);
  void serve_until(function_ref<bool()> condition);
  /// Serves calls until the reply is there, then throws what a post has left to be thrown.
  void wait(const pending_reply& reply);
  /// The reply is not waited for any more.
  void forget(pending_reply& reply) noexcept;

  std::size_t poll();
  void barrier();

 private:
  struct expected {
    pending_reply* reply = nullptr;  ///< null if nobody waits any more
    int rank = -1;                   ///< that will answer; -1 if the slot is free
  };
  struct totals {
    std::uint64_t sent = 0, received = 0;
    bool operator==(const totals&) const = default;
  };

  [[nodiscard]] bool serve_one();
  void serve_next();
  void finish_blocks_of_caller();
  void serve(rank_messages::message& one);
  void serve_call(const message_header& header, rank_messages::message& one);
  [[nodiscard]] bool defer_call(const message_header& header, rank_messages::message& one);
  [[nodiscard]] worker_call::request request_of(const message_header& header);
  void post_to_worker(worker_call::request&& what, const message_header& header,
                      rank_messages::message&& one);
  [[nodiscard]] bool answer_deferred();
  void answer_deferred(worker_call& done);
  void wait_beside_workers();
  void end_objects_on_workers();
  void end_of_call(int from, std::size_t bytes);
  void run_call(const message_header& header, const rank_messages::message& one, call_writer& to);
  void fail_post(const message_header& header) noexcept;
  void take_reply(const message_header& header, const rank_messages::message& one);
  [[nodiscard]] pending_reply* expected_reply(const message_header& header, int from) const;
  [[nodiscard]] const rank_function& function_of(const message_header& header) const;
  std::unique_ptr<block_target> prepare(int from, std::span<const std::byte> bytes,
                                        std::span<const std::uint32_t> sizes) noexcept override;
  std::unique_ptr<arriving_values> prepare_values(int from, std::span<const std::byte> bytes,
                                                  const block_sizes& sizes) const;
  [[nodiscard]] std::size_t min_block_bytes_to(int rank) const noexcept;
  void expect(pending_reply& reply, int rank, std::vector<std::byte>& bytes);
  void give_credit(int to, std::size_t bytes);
  void send(outgoing_message&& message, int to);
  void send_control(int to, const message_header& header, const totals* counts = nullptr);
  void answer_if_asked();
  void count_until_quiet();
  void throw_stored_failure();

  object_space* space_;
  std::unique_ptr<rank_messages> messages_;
  int rank_, size_;
  const std::vector<const rank_function*>& functions_;
  object_table objects_;
  worker_calls on_workers_;

  std::vector<expected> expected_;  ///< replies, by slot
  std::vector<std::uint32_t> free_;
  std::deque<rank_messages::message> own_;  ///< from this rank to itself, and others to be served
  int running_ = 0;                         ///< calls that run here, one in the wait of another
  std::uintptr_t stack_limit_;              ///< calls run above it
  std::exception_ptr stored_failure_;       ///< of a post, for the next wait outside of calls

  std::vector<std::size_t> under_way_;  ///< bytes of calls to each rank without credit
  std::vector<std::size_t> served_;     ///< bytes of calls from each rank without credit

  totals own_totals_;    ///< calls, posts, answers and credits of this rank
  totals asked_totals_;  ///< of the ranks that have answered rank 0
  int answers_ = 0;      ///< to rank 0
  bool is_asked_ = false, in_barrier_ = false, is_released_ = false;
};

}  // namespace creek::detail

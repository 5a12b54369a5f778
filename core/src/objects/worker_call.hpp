// SPDX-License-Identifier: Apache-2.0
// A call that a worker of this rank runs: its message, and then its answer.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>

#include <creek/core/messages/rank_messages.hpp>
#include <creek/core/objects/deferred_call.hpp>
#include <creek/core/objects/function_table.hpp>
#include <creek/core/threads/counted_ptr.hpp>

#include "call_message.hpp"
#include "completed_calls.hpp"
#include "object_table.hpp"

namespace creek::detail {

/// Owns the message until the answer is sent: arguments may point into it.
class worker_call final : public deferred_call {
 public:
  /// A call of a function, or with null the destruction of an object that left the table.
  struct request {
    const rank_function* function = nullptr;
    void* object = nullptr;
    call_port* object_port = nullptr;   ///< of that object
    std::unique_ptr<call_port> port{};  ///< of a call without an object
    object_table::removed_object removed{};
  };

  /// Without a message nobody is answered.
  worker_call(object_space& space, request&& what, const message_header& header,
              rank_messages::message&& message, std::size_t min_block_bytes,
              counted_ptr<completed_calls> to);
  ~worker_call() override;

  void run() noexcept override;
  void fail(std::exception_ptr why) noexcept override;

  // Used by the thread of the object space, before the call is posted and after its end.
  [[nodiscard]] call_port& port() const noexcept {
    if (what_.object_port != nullptr) return *what_.object_port;
    return what_.port ? *what_.port : *what_.removed.port;
  }
  [[nodiscard]] const message_header& header() const noexcept { return header_; }
  [[nodiscard]] rank_messages::message& message() noexcept { return message_; }
  [[nodiscard]] outgoing_message& answer() noexcept { return answer_.message; }
  [[nodiscard]] const std::exception_ptr& post_failure() const noexcept { return post_failure_; }
  /// Adds the object that the call has made to the table, and puts its number into the answer.
  void adopt_made_object(object_table& objects);

  worker_call* next_completed = nullptr;

 private:
  void end() noexcept override;
  void run_function();
  void keep_failure(const std::exception_ptr& why);
  void begin_answer(message_kind kind);

  object_space* space_;
  request what_;
  message_header header_;
  rank_messages::message message_;
  call_writer answer_;
  new_object made_;
  std::exception_ptr post_failure_;  ///< for the thread of the object space
  counted_ptr<completed_calls> completed_;
};

}  // namespace creek::detail

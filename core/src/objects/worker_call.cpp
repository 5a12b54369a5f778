// SPDX-License-Identifier: Apache-2.0
#include "worker_call.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "call_failure.hpp"

namespace creek::detail {
namespace {

/// The buffers that messages arrive in are long: many calls that wait for a worker must not keep
/// one each.
void shrink(rank_messages::message& message) {
  constexpr std::size_t max_unused = 1024;
  if (message.memory.size() <= message.head + max_unused) return;
  const auto bytes = message.bytes();
  message.memory = std::vector<std::byte>(bytes.begin(), bytes.end());
}

}  // namespace

worker_call::worker_call(object_space& space, request&& what, const message_header& header,
                         rank_messages::message&& message, std::size_t min_block_bytes,
                         counted_ptr<completed_calls> to)
    : space_(&space),
      what_(std::move(what)),
      header_(header),
      message_(std::move(message)),
      answer_{{}, min_block_bytes},
      completed_(std::move(to)) {
  shrink(message_);
  begin_answer(message_kind::result);
}

/// Destroys an object whose worker has ended, or which nobody can have a handle of.
worker_call::~worker_call() {
  what_.removed.destroy_now();
  made_.destroy_now();
}

void worker_call::begin_answer(message_kind kind) {
  message_header answer(kind);
  answer.request = header_.request;
  answer_.message.blocks.clear();
  put_header(answer_.message.bytes, answer);
}

void worker_call::run() noexcept {
  try {
    if (what_.function == nullptr) return what_.removed.destroy_now();
    run_function();
    (void)rank_messages::checked_size(answer_.message);
  } catch (...) {
    fail(std::current_exception());
  }
}

void worker_call::run_function() {
  void* const object = what_.function->object != nullptr ? what_.object : &made_;
  if (message_.target == nullptr) {
    byte_reader arguments = after_header(message_.bytes());
    return what_.function->run(*space_, object, arguments, answer_);
  }
  auto& arguments = static_cast<arriving_values&>(*message_.target);
  if (arguments.failure) std::rethrow_exception(arguments.failure);
  what_.function->in_blocks.run(*space_, object, arguments, answer_);
}

void worker_call::fail(std::exception_ptr why) noexcept {
  made_.destroy_now();
  try {
    keep_failure(why);
  } catch (...) {
    post_failure_ = std::current_exception();
  }
}

void worker_call::keep_failure(const std::exception_ptr& why) {
  if (header_.kind() != message_kind::post) {
    begin_answer(message_kind::failure);
    try {
      std::rethrow_exception(why);
    } catch (...) {
      put_failure(answer_.message.bytes);
    }
  } else if (what_.object != nullptr && what_.function->on_post_failure != nullptr) {
    what_.function->on_post_failure(what_.object, why);
  } else {
    post_failure_ = why;
  }
}

void worker_call::adopt_made_object(object_table& objects) {
  if (made_.object == nullptr) return;
  const std::uint64_t number = objects.add(std::exchange(made_, {}), std::move(what_.port));
  begin_answer(message_kind::result);
  wire<std::uint64_t>::put(answer_.message.bytes, number);
}

/// The queue may outlive the object space: its lock is held when the call is in it.
void worker_call::end() noexcept {
  const counted_ptr<completed_calls> to = completed_;
  to->add(*this);
}

}  // namespace creek::detail

// SPDX-License-Identifier: Apache-2.0
// Calls that workers of this rank run: on their way to the workers, and answered afterwards.
#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "call_service.hpp"

namespace creek::detail {

/// Hands a call to a worker, if it is one of an object there. Returns false if it is not.
bool call_service::defer_call(const message_header& header, rank_messages::message& one) {
  worker_call::request what = request_of(header);
  if (!what.port && !what.removed.port && what.object == nullptr) return false;
  post_to_worker(std::move(what), header, std::move(one));
  return true;
}

/// Returns an empty request for a call that this thread runs.
worker_call::request call_service::request_of(const message_header& header) {
  const std::uint64_t number = header.object_number();
  if (header.kind() == message_kind::destroy) {
    if (objects_.port_of(number) == nullptr) return {};
    return {.removed = objects_.take(number)};
  }
  const rank_function& function = function_of(header);
  if (function.object == nullptr) {
    if (number == 0) return {};
    return {.function = &function, .port = on_workers_.open(rank_, number)};
  }
  const object_table::use used(objects_, number, *function.object);
  call_port* const port = objects_.port_of(number);
  if (port == nullptr) return {};
  return {.function = &function, .object = used.object(), .object_port = port};
}

void call_service::post_to_worker(worker_call::request&& what, const message_header& header,
                                  rank_messages::message&& one) {
  const std::size_t min_block_bytes = min_block_bytes_to(one.from);
  on_workers_.post(std::make_unique<worker_call>(*space_, std::move(what), header, std::move(one),
                                                 min_block_bytes, on_workers_.completed()));
}

/// Answers a call that a worker has given back. Returns false if there is none.
bool call_service::answer_deferred() {
  const std::unique_ptr<worker_call> done = on_workers_.take();
  if (done == nullptr) return false;
  answer_deferred(*done);
  return true;
}

void call_service::answer_deferred(worker_call& done) {
  const int from = done.message().from;
  const std::size_t size = done.message().size;
  done.adopt_made_object(objects_);
  if (done.header().kind() == message_kind::post) {
    if (done.post_failure() && !stored_failure_) stored_failure_ = done.post_failure();
    messages_->recycle(std::move(done.answer().bytes));
  } else {
    send(std::move(done.answer()), from);
  }
  messages_->recycle(std::move(done.message().memory));
  end_of_call(from, size);
}

/// Waits for an event while workers run calls. A call that ends wakes the thread at once. Messages
/// are polled for, and noticed at most an eighth of the time waited so far, or 10 us, or 1 ms
/// later.
void call_service::wait_beside_workers() {
  using namespace std::chrono_literals;
  // An estimate: sleeping and waking take as long. A worker may need the processor meanwhile.
  constexpr std::chrono::nanoseconds spin = 20us;
  const auto begin = std::chrono::steady_clock::now();
  while (!answer_deferred() && !serve_one()) {
    const std::chrono::nanoseconds waited = std::chrono::steady_clock::now() - begin;
    if (waited < spin) {
      std::this_thread::yield();
    } else {
      (void)on_workers_.wait_for(std::clamp<std::chrono::nanoseconds>(waited / 8, 10us, 1ms));
    }
  }
}

/// Waits for the calls that workers still run, and has them destroy their objects.
void call_service::end_objects_on_workers() {
  const auto end_all = [&] {
    while (on_workers_.under_way() != 0) {
      (void)on_workers_.wait_for(std::chrono::seconds(1));
      if (const auto done = on_workers_.take()) done->adopt_made_object(objects_);
    }
  };
  end_all();  // there are some after an exception only, and nobody gets their answers
  for (object_table::removed_object& each : objects_.take_all_with_ports()) {
    post_to_worker({.removed = std::move(each)}, message_header(message_kind::destroy), {});
  }
  end_all();
}

}  // namespace creek::detail

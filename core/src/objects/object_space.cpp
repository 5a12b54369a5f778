// SPDX-License-Identifier: Apache-2.0
#include <creek/core/objects/object_space.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <exception>
#include <utility>

#include <creek/core/error.hpp>

#include "call_service.hpp"

namespace creek {
namespace {

thread_local object_space* space_of_thread = nullptr;

}  // namespace

object_space::object_space(std::unique_ptr<rank_messages> messages)
    : exceptions_(std::uncaught_exceptions()) {
  if (space_of_thread != nullptr) {
    throw usage_error("a thread can have one object_space at a time: end the other one first");
  }
  service_ = std::make_unique<detail::call_service>(*this, std::move(messages));
  broadcasts_.resize(static_cast<std::size_t>(size()));
  space_of_thread = this;
}

object_space::~object_space() noexcept(false) {
  struct end {
    object_space* space;
    ~end() {
      space_of_thread = nullptr;
      space->service_.reset();
    }
  } at_the_end{this};
  if (std::uncaught_exceptions() == exceptions_) barrier();
}

bool object_space::exists() noexcept {
  return space_of_thread != nullptr;
}

object_space& object_space::current() {
  if (space_of_thread == nullptr) {
    throw usage_error(
        "this thread has no object_space: objects on ranks are called by the thread that made it; "
        "let tasks end before their rank calls, and calls on workers return what is to be called");
  }
  return *space_of_thread;
}

void object_space::require_one_program(int first_that_differs) const {
  if (first_that_differs == size()) return;
  throw usage_error(fmt::format(
      "object_space: rank {} runs another program than rank 0: start the same file on all ranks",
      first_that_differs));
}

int object_space::rank() const noexcept {
  return service_->rank();
}
int object_space::size() const noexcept {
  return service_->size();
}
std::size_t object_space::poll() {
  return service_->poll();
}
void object_space::barrier() {
  service_->barrier();
}
void object_space::store_broadcast(int root, std::vector<std::byte> value) {
  object_space& here = current();
  if (root < 0 || root >= here.size()) throw error(EBADMSG, "a broadcast of a rank that is none");
  here.broadcasts_[static_cast<std::size_t>(root)].push_back(std::move(value));
}
std::vector<std::byte> object_space::take_broadcast(int root) {
  if (root < 0 || root >= size()) {
    throw usage_error(fmt::format("a broadcast of rank {} of {}", root, size()));
  }
  auto& arrived = broadcasts_[static_cast<std::size_t>(root)];
  service_->serve_until([&] { return !arrived.empty(); });
  std::vector<std::byte> value = std::move(arrived.front());
  arrived.pop_front();
  return value;
}
void object_space::wait(detail::pending_reply& reply) {
  service_->wait(reply);
}
detail::call_writer object_space::begin_call(const detail::rank_function& function, int rank,
                                             std::uint64_t object, bool is_answered,
                                             detail::call_writer::block_use blocks) {
  return service_->begin_call(&function, rank, object, is_answered, blocks);
}
void object_space::end_call(outgoing_message&& message, int rank, detail::pending_reply* reply) {
  service_->end_call(std::move(message), rank, reply);
}
void object_space::destroy(int rank, std::uint64_t object) {
  detail::reply_of<void> reply;
  auto call =
      service_->begin_call(nullptr, rank, object, true, detail::call_writer::block_use::own);
  service_->end_call(std::move(call.message), rank, &reply);
  service_->wait(reply);
  reply.take();
}
std::uint64_t object_space::adopt(const detail::new_object& made) {
  return service_->objects().add(made);
}

void object_space::set_workers(std::unique_ptr<rank_workers> workers) {
  service_->on_workers().set_workers(std::move(workers));
}
int object_space::worker_count(int rank) {
  return call_on<&object_space::own_worker_count>(rank);
}

int object_space::own_worker_count() {
  return current().service_->on_workers().worker_count();
}
std::uint64_t object_space::number_of(const worker_address& at) {
  if (at.worker < 0) {
    throw usage_error(fmt::format("a call of worker {} of rank {}", at.worker, at.rank));
  }
  return static_cast<std::uint64_t>(at.worker) + 1;
}
std::vector<worker_address> object_space::all_workers() {
  std::vector<async_result<int>> counts;
  for (int rank = 0; rank < size(); ++rank) {
    counts.push_back(async_on<&object_space::own_worker_count>(rank));
  }
  std::vector<worker_address> all;
  for (int rank = 0; rank < size(); ++rank) {
    const int count = counts[static_cast<std::size_t>(rank)].get();
    for (int worker = 0; worker < count; ++worker) all.push_back({rank, worker});
  }
  if (all.empty()) throw usage_error("no rank has workers for objects: call use_workers()");
  return all;
}

}  // namespace creek

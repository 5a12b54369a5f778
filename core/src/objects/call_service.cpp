// SPDX-License-Identifier: Apache-2.0
#include "call_service.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <exception>
#include <functional>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

#include <creek/core/error.hpp>
#include <creek/core/objects/call_signature.hpp>
#include <creek/core/objects/object_space.hpp>

#include "call_failure.hpp"

namespace creek::detail {
namespace {

/// Maximum bytes of calls to one rank that it has not served, unless it is a single one. An
/// estimate: 20 000 short posts.
constexpr std::size_t window = std::size_t{1} << 20;

/// Returns the address that calls may not go below: a quarter of the thread's stack stays free.
std::uintptr_t limit_of_stack() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* lowest = nullptr;
  std::size_t bytes = 0;
  pthread_attr_getstack(&attributes, &lowest, &bytes);
  pthread_attr_destroy(&attributes);
  return reinterpret_cast<std::uintptr_t>(lowest) + bytes / 4;
}

}  // namespace

void throw_bytes_left(std::size_t bytes) {
  throw error(EBADMSG, fmt::format("a message has {} bytes more than were read", bytes));
}

void throw_wrong_block() {
  throw error(EBADMSG, "the blocks of a message are shorter than the lengths in it");
}

pending_reply::~pending_reply() {
  if (service_ != nullptr) service_->forget(*this);
}

call_service::call_service(object_space& space, std::unique_ptr<rank_messages> messages)
    : space_(&space),
      messages_(std::move(messages)),
      rank_(messages_->rank()),
      size_(messages_->size()),
      functions_(function_table()),
      stack_limit_(limit_of_stack()),
      under_way_(static_cast<std::size_t>(size_)),
      served_(static_cast<std::size_t>(size_)) {
  messages_->set_block_receiver(*this);
}

call_service::~call_service() {
  end_objects_on_workers();
  for (const expected& each : expected_) {
    if (each.reply == nullptr) continue;
    each.reply->service_ = nullptr;
    each.reply->is_done_ = true;
    each.reply->failure_ =
        std::make_exception_ptr(usage_error("a call whose object space has ended"));
  }
}

call_writer call_service::begin_call(const rank_function* function, int rank, std::uint64_t object,
                                     bool is_answered, call_writer::block_use blocks) {
  if (rank < 0 || rank >= size_) {
    throw usage_error(fmt::format("a call of rank {} of {}", rank, size_));
  }
  if (function != nullptr && functions_[function->number] != function) {
    throw usage_error(
        fmt::format("a call of {}, which was loaded after the first object space", function->name));
  }
  const auto at = static_cast<std::size_t>(rank);
  if (running_ == 0 && under_way_[at] >= window) [[unlikely]] {
    serve_until([&] { return under_way_[at] < window; });
  }
  const message_kind kind = function == nullptr ? message_kind::destroy
                            : is_answered       ? message_kind::call
                                                : message_kind::post;
  message_header header(kind, function == nullptr ? 0 : function->number);
  header.object[0] = static_cast<std::uint32_t>(object);
  header.object[1] = static_cast<std::uint32_t>(object >> 32);
  call_writer to{{messages_->make_buffer(), {}}, min_block_bytes_to(rank), blocks};
  put_header(to.message.bytes, header);
  return to;
}

/// A rank's calls of itself have no blocks.
std::size_t call_service::min_block_bytes_to(int rank) const noexcept {
  return rank == rank_ ? rank_messages::no_blocks : messages_->min_block_bytes();
}

void call_service::end_call(outgoing_message&& message, int rank, pending_reply* reply) {
  const std::size_t size = rank_messages::checked_size(message);
  if (reply != nullptr) expect(*reply, rank, message.bytes);
  under_way_[static_cast<std::size_t>(rank)] += size;
  send(std::move(message), rank);
}

/// Writes the slot of the reply into the header of the call. Not before the arguments are written,
/// which may throw.
void call_service::expect(pending_reply& reply, int rank, std::vector<std::byte>& bytes) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(expected_.size()));
    expected_.emplace_back();
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  expected_[slot] = {&reply, rank};
  reply.service_ = this;
  reply.slot_ = slot;
  std::memcpy(bytes.data() + offsetof(message_header, request), &slot, sizeof slot);
}

void call_service::send(outgoing_message&& message, int to) {
  ++own_totals_.sent;
  if (to == rank_) {
    const std::size_t size = message.bytes.size();
    own_.push_back({rank_, size, size, std::move(message.bytes), nullptr});
  } else {
    messages_->send(std::move(message), to);
  }
}

void call_service::send_control(int to, const message_header& header, const totals* counts) {
  std::vector<std::byte> bytes = messages_->make_buffer();
  put_header(bytes, header);
  if (counts != nullptr) wire<totals>::put(bytes, *counts);
  messages_->send({std::move(bytes), {}}, to);
}

void call_service::forget(pending_reply& reply) noexcept {
  expected_[reply.slot_].reply = nullptr;
  reply.service_ = nullptr;
}

void call_service::wait(const pending_reply& reply) {
  try {
    while (!reply.is_done()) serve_next();
  } catch (...) {
    finish_blocks_of_caller();
    throw;
  }
  finish_blocks_of_caller();
  if (running_ == 0) throw_stored_failure();
}

/// Waits until what callers have lent for messages has been sent. Messages that arrive meanwhile
/// are served later; they are received, because their senders may wait here, too.
void call_service::finish_blocks_of_caller() {
  while (messages_->has_blocks_without_owner()) {
    rank_messages::message one;
    if (messages_->try_receive(one)) {
      own_.push_back(std::move(one));
    } else {
      std::this_thread::yield();
    }
  }
}

std::size_t call_service::poll() {
  std::size_t served = 0;
  while (answer_deferred() || (serve_one() && ++served != 0)) {
  }
  if (running_ == 0) throw_stored_failure();
  return served;
}

void call_service::throw_stored_failure() {
  if (stored_failure_) std::rethrow_exception(std::exchange(stored_failure_, nullptr));
}

void call_service::serve_until(function_ref<bool()> condition) {
  while (!condition()) {
    serve_next();
    if (running_ == 0) throw_stored_failure();
  }
}

/// Serves a message, and waits for it.
void call_service::serve_next() {
  if (answer_deferred() || serve_one()) return;
  if (on_workers_.under_way() != 0) return wait_beside_workers();
  if (size_ == 1) throw usage_error("a call waits for a result that waits for this call");
  rank_messages::message one;
  messages_->receive(one);
  serve(one);
  messages_->recycle(std::move(one.memory));
}

bool call_service::serve_one() {
  rank_messages::message one;
  if (!own_.empty()) {
    one = std::move(own_.front());
    own_.pop_front();
  } else if (size_ == 1 || !messages_->try_receive(one)) {
    return false;
  }
  serve(one);
  messages_->recycle(std::move(one.memory));
  return true;
}

void call_service::serve(rank_messages::message& one) {
  const message_header header = header_of(one.from, one.bytes());
  switch (header.kind()) {
    case message_kind::call:
    case message_kind::post:
    case message_kind::destroy:
      return serve_call(header, one);
    case message_kind::result:
    case message_kind::failure:
      take_reply(header, one);
      break;
    case message_kind::credit: {
      std::size_t& under_way = under_way_[static_cast<std::size_t>(one.from)];
      if (header.request > under_way) throw error(EBADMSG, "more calls were served than sent");
      under_way -= header.request;
      break;
    }
    case message_kind::ask:
      is_asked_ = true;
      return answer_if_asked();
    case message_kind::counts: {
      byte_reader rest = after_header(one.bytes());
      const auto counts = wire<totals>::get(rest);
      asked_totals_.sent += counts.sent;
      asked_totals_.received += counts.received;
      ++answers_;
      return;
    }
    case message_kind::release:
      is_released_ = true;
      return;
    default:
      throw error(EBADMSG, fmt::format("rank {} sent a message of kind {}, which there is not",
                                       one.from, static_cast<unsigned>(header.kind())));
  }
  ++own_totals_.received;
}

void call_service::serve_call(const message_header& header, rank_messages::message& one) {
  const int from = one.from;
  const std::size_t size = one.size;
  message_header answer(message_kind::result);
  answer.request = header.request;
  call_writer to{{messages_->make_buffer(), {}}, min_block_bytes_to(from)};
  std::vector<std::byte>& bytes = to.message.bytes;
  put_header(bytes, answer);
  ++running_;
  bool is_deferred = false;
  try {
    is_deferred = defer_call(header, one);
    if (!is_deferred) run_call(header, one, to);
    (void)rank_messages::checked_size(to.message);
  } catch (...) {
    if (header.kind() == message_kind::post) {
      fail_post(header);
    } else {
      answer.code = static_cast<std::uint32_t>(message_kind::failure);
      put_header(bytes, answer);
      to.message.blocks.clear();
      put_failure(bytes);
    }
  }
  --running_;
  if (is_deferred || header.kind() == message_kind::post) {
    messages_->recycle(std::move(bytes));
  } else {
    send(std::move(to.message), from);
  }
  if (!is_deferred) end_of_call(from, size);
}

void call_service::end_of_call(int from, std::size_t bytes) {
  give_credit(from, bytes);
  ++own_totals_.received;
  answer_if_asked();
}

const rank_function& call_service::function_of(const message_header& header) const {
  if (header.function() < functions_.size()) return *functions_[header.function()];
  throw error(EBADMSG,
              fmt::format("a call of function {} of {}", header.function(), functions_.size()));
}

void call_service::run_call(const message_header& header, const rank_messages::message& one,
                            call_writer& to) {
  if (reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) < stack_limit_) {
    throw usage_error(fmt::format(
        "rank {} has no stack left for a call: {} calls there wait for others, one in the other",
        rank_, running_ - 1));
  }
  if (header.kind() == message_kind::destroy) return objects_.remove(header.object_number());
  const rank_function& function = function_of(header);
  std::optional<object_table::use> used;
  void* object = nullptr;
  if (function.object != nullptr) {
    object = used.emplace(objects_, header.object_number(), *function.object).object();
  }
  if (one.target == nullptr) {
    byte_reader arguments = after_header(one.bytes());
    return function.run(*space_, object, arguments, to);
  }
  auto& arguments = static_cast<arriving_values&>(*one.target);
  if (arguments.failure) std::rethrow_exception(arguments.failure);
  function.in_blocks.run(*space_, object, arguments, to);
}

/// Makes the arguments of a call, or the result, of which the blocks follow.
std::unique_ptr<block_target> call_service::prepare(int from, std::span<const std::byte> bytes,
                                                    std::span<const std::uint32_t> sizes) noexcept {
  try {
    const std::size_t sum = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
    auto made = prepare_values(from, bytes, {messages_->min_block_bytes(), sum});
    if (made == nullptr) return std::make_unique<arriving_values>();  // nobody waits any more
    const auto size_of = [](const auto& block) { return block.size(); };
    if (!std::ranges::equal(made->blocks, sizes, {}, size_of)) throw_wrong_block();
    return made;
  } catch (...) {
    auto failed = std::make_unique<arriving_values>();
    failed->failure = std::current_exception();
    return failed;
  }
}

/// Returns null for the result of a call that nobody waits for.
std::unique_ptr<arriving_values> call_service::prepare_values(int from,
                                                              std::span<const std::byte> bytes,
                                                              const block_sizes& blocks) const {
  const message_header header = header_of(from, bytes);
  byte_reader rest = after_header(bytes);
  if (header.kind() == message_kind::result) {
    pending_reply* const reply = expected_reply(header, from);
    auto made = reply == nullptr ? nullptr : reply->prepare(rest, blocks);
    if (made != nullptr && rest.left() != 0) throw_bytes_left(rest.left());
    return made;
  }
  const bool is_call = header.kind() == message_kind::call || header.kind() == message_kind::post;
  if (is_call && function_of(header).in_blocks.prepare != nullptr) {
    return function_of(header).in_blocks.prepare(rest, blocks);
  }
  throw error(EBADMSG, fmt::format("rank {} sent blocks, for which there is no value", from));
}

/// Called while the exception of a post is handled.
void call_service::fail_post(const message_header& header) noexcept {
  try {
    const rank_function* const function =
        header.function() < functions_.size() ? functions_[header.function()] : nullptr;
    if (function != nullptr && function->object != nullptr) {
      std::optional<object_table::use> used;
      try {
        used.emplace(objects_, header.object_number(), *function->object);
      } catch (const usage_error&) {
        return;  // the object was destroyed: the post is dropped
      }
      if (function->on_post_failure != nullptr) {
        return function->on_post_failure(used->object(), std::current_exception());
      }
    }
  } catch (...) {
    if (!stored_failure_) stored_failure_ = std::current_exception();
    return;
  }
  if (!stored_failure_) stored_failure_ = std::current_exception();
}

pending_reply* call_service::expected_reply(const message_header& header, int from) const {
  if (header.request >= expected_.size() || expected_[header.request].rank != from) {
    throw error(EBADMSG, fmt::format("rank {} answered a call that was not made", from));
  }
  return expected_[header.request].reply;
}

void call_service::take_reply(const message_header& header, const rank_messages::message& one) {
  pending_reply* const reply = expected_reply(header, one.from);
  expected_[header.request] = {};
  free_.push_back(header.request);
  if (reply == nullptr) return;  // nobody waits any more
  reply->service_ = nullptr;
  try {
    if (one.target != nullptr) {
      auto& arrived = static_cast<arriving_values&>(*one.target);
      if (arrived.failure) std::rethrow_exception(arrived.failure);
      reply->take_prepared(arrived);
    } else {
      byte_reader result = after_header(one.bytes());
      if (header.kind() == message_kind::failure) {
        reply->failure_ = get_failure(result);
      } else {
        reply->read(result);
      }
      if (result.left() != 0) throw_bytes_left(result.left());
    }
  } catch (...) {
    reply->failure_ = std::current_exception();
  }
  reply->is_done_ = true;
}

void call_service::give_credit(int to, std::size_t bytes) {
  if (to == rank_) {
    under_way_[static_cast<std::size_t>(to)] -= bytes;
    return;
  }
  std::size_t& served = served_[static_cast<std::size_t>(to)];
  served += bytes;
  if (served < window / 4) return;
  ++own_totals_.sent;
  message_header credit(message_kind::credit);
  credit.request = static_cast<std::uint32_t>(std::exchange(served, 0));
  send_control(to, credit);
}

/// Rank 0 asks for counts until all calls, posts, answers and credits that were sent were received,
/// twice with the same counts: then nothing was under way between the two [Mattern 1987].
void call_service::barrier() {
  if (running_ != 0) throw usage_error("object_space::barrier() in a call: all ranks make it");
  in_barrier_ = true;
  is_released_ = false;
  if (rank_ == 0) {
    count_until_quiet();
    for (int to = 1; to < size_; ++to) send_control(to, message_header(message_kind::release));
  } else {
    answer_if_asked();
    serve_until([&] { return is_released_; });
  }
  in_barrier_ = false;
}

/// A rank answers when no call runs on it or on its workers: until then its counts cannot be the
/// last.
void call_service::answer_if_asked() {
  if (!is_asked_ || !in_barrier_ || running_ != 0 || on_workers_.under_way() != 0) return;
  is_asked_ = false;
  send_control(0, message_header(message_kind::counts), &own_totals_);
}

void call_service::count_until_quiet() {
  using namespace std::chrono_literals;
  std::chrono::microseconds pause = 5us;
  for (totals before{.sent = ~std::uint64_t{0}};;) {
    poll();
    serve_until([&] { return on_workers_.under_way() == 0; });
    answers_ = 0;
    asked_totals_ = {};
    for (int to = 1; to < size_; ++to) send_control(to, message_header(message_kind::ask));
    serve_until([&] { return answers_ == size_ - 1; });
    asked_totals_.sent += own_totals_.sent;
    asked_totals_.received += own_totals_.received;
    const bool is_quiet = asked_totals_.sent == asked_totals_.received;
    const bool is_same = asked_totals_ == before;
    if (is_quiet && is_same) return;
    before = asked_totals_;
    if (is_quiet) continue;
    // A message is under way, and each count costs one to and one from every rank.
    pause = is_same ? std::min<std::chrono::microseconds>(2 * pause, 1ms) : 5us;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace creek::detail

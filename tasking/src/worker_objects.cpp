// SPDX-License-Identifier: Apache-2.0
// The way of a call to the worker of its object: the thread of the object space puts it into the
// inbox of the worker and sends a message if none is under way; that hands all calls there to their
// objects. So the thread never waits for a worker, whose room for messages is limited.
#include <creek/tasking/worker_objects.hpp>

#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/core/objects/deferred_call.hpp>
#include <creek/core/threads/counted_ptr.hpp>
#include <creek/tasking/detail/closure_message.hpp>
#include <creek/tasking/ext/remote_cell.hpp>

namespace creek::detail {
namespace {

struct call_message {
  message_head head;
  deferred_call* call;
};

/// Fails a call whose worker has ended, and gives it back.
void refuse(deferred_call_ptr call) noexcept {
  call->fail(std::make_exception_ptr(
      usage_error("a call of an object whose worker has ended with its runtime")));
}

/// Runs on the worker, when the object is free.
void run_call(std::byte* message) noexcept {
  static constexpr task_type type{nullptr, "[with F = a call of another rank]"};
  call_message here;
  std::memcpy(&here, message, sizeof here);
  deferred_call_ptr call(here.call);
  if (here.head.object->object() == nullptr) return refuse(std::move(call));
  std::exception_ptr later =
      run_invocation(activation{here.head.object, nullptr}, &type, [&] { call->run(); });
  if (later) call->fail(std::move(later));
}

/// The calls for the objects of one worker that it has not been told of.
class worker_inbox {
 public:
  worker_inbox(executor& home, unsigned worker) noexcept : home_(home), worker_(worker) {}

  [[nodiscard]] executor& home() const noexcept { return home_; }
  [[nodiscard]] unsigned worker() const noexcept { return worker_; }

  /// Called by `self`, an owner of this.
  void add(counted_ptr<worker_inbox> self, remote_cell& object, deferred_call_ptr call) {
    {
      const std::lock_guard lock(mutex_);
      calls_.push_back({{&run_call, &object, nullptr}, call.get()});
      (void)call.release();
      if (in_message_) return;
      in_message_ = std::move(self);
    }
    struct {
      message_head head;
      worker_inbox* inbox;
    } const message{{&empty, nullptr, nullptr}, this};
    home_.messages().send(worker_, &message, sizeof message);
  }

 private:
  /// Runs on the worker: sends it the calls, whose order it keeps. While they are sent, no second
  /// message comes, which could overtake them.
  static void empty(std::byte* message) noexcept {
    worker_inbox* self = nullptr;
    std::memcpy(&self, message + sizeof(message_head), sizeof self);
    std::vector<call_message> calls;
    while (self->take(calls)) {
      for (const call_message& each : calls) {
        self->home_.messages().send(self->worker_, &each, sizeof each);
      }
    }
  }
  /// Returns false if there are none; then this may be gone.
  bool take(std::vector<call_message>& calls) noexcept {
    counted_ptr<worker_inbox> last;
    const std::lock_guard lock(mutex_);
    calls.clear();
    std::swap(calls, calls_);
    if (!calls.empty()) return true;
    last = std::move(in_message_);
    return false;
  }

  executor& home_;
  const unsigned worker_;
  std::mutex mutex_;
  std::vector<call_message> calls_;
  counted_ptr<worker_inbox> in_message_;  ///< this, while a message is under way
};

/// An object of another rank takes turns as a remote<T> does, but belongs to the object space.
class object_port final : public call_port {
 public:
  explicit object_port(counted_ptr<worker_inbox> inbox)
      : inbox_(std::move(inbox)), cell_(new remote_cell(inbox_->home(), inbox_->worker())) {
    cell_->object() = {cell_, [](void*) noexcept {}};
  }
  ~object_port() override { cell_->drop_handle(); }

  void post(deferred_call_ptr call) noexcept override {
    if (cell_->dead()) return refuse(std::move(call));
    inbox_->add(inbox_, *cell_, std::move(call));
  }

 private:
  counted_ptr<worker_inbox> inbox_;
  remote_cell* cell_;
};

class workers_of_runtime final : public rank_workers {
 public:
  explicit workers_of_runtime(executor& home) {
    for (unsigned worker = 0; worker < home.traits().worker_count; ++worker) {
      inboxes_.push_back(counted_ptr<worker_inbox>::make(home, worker));
    }
    lifetime_ = new remote_cell(home, 0);
  }
  ~workers_of_runtime() override { lifetime_->drop_handle(); }

  [[nodiscard]] int count() const noexcept override { return static_cast<int>(inboxes_.size()); }
  [[nodiscard]] std::unique_ptr<call_port> open(int worker) override {
    if (lifetime_->dead()) {
      throw usage_error("a call of a worker whose runtime has ended");
    }
    return std::make_unique<object_port>(inboxes_[static_cast<std::size_t>(worker)]);
  }

 private:
  std::vector<counted_ptr<worker_inbox>> inboxes_;
  remote_cell* lifetime_;  ///< has no object, but ends with the runtime
};

}  // namespace
}  // namespace creek::detail

namespace creek {

void use_workers(object_space& space, runtime& workers) {
  detail::executor& home = detail::executor_of(workers);
  if (home.traits().has_own_time) {
    throw usage_error("use_workers: the workers of the simulated chip run in run() only");
  }
  if (detail::current_executor() == &home) {
    throw usage_error(
        "use_workers: call it outside of run(): the thread of the object space waits for calls "
        "that these workers run");
  }
  space.set_workers(std::make_unique<detail::workers_of_runtime>(home));
}

}  // namespace creek

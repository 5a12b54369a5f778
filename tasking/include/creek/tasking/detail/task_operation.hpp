// SPDX-License-Identifier: Apache-2.0
// Operations of senders that complete in a task.
#pragma once

#include <exception>
#include <memory>
#include <new>
#include <utility>

#include <creek/tasking/detail/future_state.hpp>
#include <creek/tasking/detail/task_name.hpp>
#include <creek/tasking/spawn.hpp>

namespace creek::detail {

/// Base of an operation that completes in a task. Operation::complete() and Operation::fail(why)
/// complete it, after which it may be gone.
template <class Operation>
class task_operation : public submitted_task {
 public:
  task_operation(const task_operation&) = delete;
  task_operation& operator=(const task_operation&) = delete;

 protected:
  task_operation() noexcept {
    submitted_task::name = task_name<Operation>();
    submitted_task::run = [](submitted_task* self) noexcept { complete_as_task(self_of(self)); };
    submitted_task::give_up = [](submitted_task* self, std::exception_ptr why) noexcept {
      self_of(self).fail(std::move(why));
    };
  }
  ~task_operation() = default;

  /// Makes the completion a task of `home`. The operation may be gone when this returns.
  void submit_to(executor& home) noexcept {
    // The simulated chip keeps a task that comes from outside until it has ended, while an
    // operation may be gone once it has completed.
    if (home.bookkeeping() == nullptr || current_executor() == &home) {
      home.submit(this);
    } else if (auto* carried = new (std::nothrow) carrier(self_of(this))) {
      home.submit(carried);
    } else {
      self_of(this).fail(std::make_exception_ptr(std::bad_alloc()));
    }
  }

 private:
  /// A task that outlives its operation.
  struct carrier : submitted_task {
    explicit carrier(Operation& carried) noexcept : operation(&carried) {
      submitted_task::name = task_name<Operation>();
      submitted_task::run = [](submitted_task* self) noexcept {
        auto* me = static_cast<carrier*>(self);
        complete_as_task(*std::exchange(me->operation, nullptr));
        delete me;
      };
      submitted_task::give_up = [](submitted_task* self, std::exception_ptr why) noexcept {
        Operation* const not_begun = static_cast<carrier*>(self)->operation;
        delete static_cast<carrier*>(self);
        if (not_begun != nullptr) not_begun->fail(std::move(why));
      };
    }
    Operation* operation;
  };

  static Operation& self_of(submitted_task* self) noexcept {
    return *static_cast<Operation*>(static_cast<task_operation*>(self));
  }
  /// Runs the completion as a strict task: the receiver may fork and spawn. Reports the exceptions
  /// of tasks that it spawned and did not wait for.
  static void complete_as_task(Operation& operation) noexcept {
    static constexpr task_type type{nullptr, task_name<Operation>()};
    const auto complete = [&operation]() noexcept { operation.complete(); };
    error_slot error;
    run_framed<ending::strict>(complete, current_stack, nullptr, &type, error);
    if (std::exception_ptr failure = error.take()) [[unlikely]] {
      future_state<void>(1).fail(std::move(failure));
    }
  }
};

}  // namespace creek::detail

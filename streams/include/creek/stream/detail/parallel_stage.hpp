// SPDX-License-Identifier: Apache-2.0
// The items of a parallel stage, each a task.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include <creek/stream/detail/activity.hpp>
#include <creek/stream/detail/completion.hpp>
#include <creek/stream/detail/process.hpp>
#include <creek/stream/pipeline_error.hpp>
#include <creek/stream/transfer_bytes.hpp>

namespace creek::stream::detail {

/// Waits at its end for the tasks that were counted.
class counted_tasks {
 public:
  /// `maker` starts the tasks; their time is measured with its own.
  explicit counted_tasks(process& maker) noexcept : maker_(maker) {}
  ~counted_tasks() {
    if (under_way_.fetch_sub(1, std::memory_order_acq_rel) == 1) return;
    maker_.wait_elsewhere([this] { none_.wait("tasks of a parallel stage"); });
  }
  counted_tasks(const counted_tasks&) = delete;
  counted_tasks& operator=(const counted_tasks&) = delete;
  [[nodiscard]] activity* measured() const noexcept { return maker_.measured(); }
  void one_begins() noexcept { under_way_.fetch_add(1, std::memory_order_relaxed); }
  /// The object may be gone after that.
  void one_ends() noexcept {
    if (under_way_.fetch_sub(1, std::memory_order_acq_rel) == 1) none_.finish();
  }

 private:
  process& maker_;
  std::atomic<std::size_t> under_way_{1};  ///< with the one that waits
  completion none_;
};

/// An item of a parallel stage, and the task that works on it. One item is with the process that
/// starts them, one with the process that passes them on, the others in the channel between the
/// two. Where workers share no memory, items and results go by way of memory that all can reach.
/// Submitted, not spawned: the oldest is to begin first, for the others wait behind it.
template <class F, class T, class R>
class started_item : ext::submitted_task {
 public:
  started_item() {
    ext::submitted_task::run = [](ext::submitted_task* self) noexcept {
      static_cast<started_item*>(self)->work();
    };
    ext::submitted_task::name = "an item of a parallel stage";
  }
  /// `place` numbers the items that may be under way at once.
  void start(F& function, T&& item, counted_tasks& tasks, std::size_t place) {
    function_ = &function;
    item_.emplace(std::move(item));
    tasks_ = &tasks;
    place_ = place;
    charge_shared_item(*item_, place_, true);
    end_.reset();
    tasks.one_begins();
    ext::current_executor()->submit(this);
  }
  [[nodiscard]] completion& end() noexcept { return end_; }
  /// Takes the result, after the end; throws pipeline_error if the function threw.
  R take(const std::string& stage, std::size_t number) {
    if (failure_) throw pipeline_error(stage, number, failure_);
    charge_shared_item(*result_, place_, false);
    return *std::exchange(result_, std::nullopt);
  }

 private:
  void work() noexcept {
    const auto body = [](void* self) noexcept { static_cast<started_item*>(self)->call(); };
    activity* const measured = tasks_->measured();
    const ticks begun = measured != nullptr ? measured->clock.now() : ticks{};
    std::exception_ptr of_tasks = ext::run_branch_as_task(body, this);
    if (measured != nullptr) measured->tasks += (measured->clock.now() - begun).count;
    if (of_tasks && !failure_) failure_ = std::move(of_tasks);
    counted_tasks& tasks = *tasks_;  // the item may be started anew
    end_.finish();
    tasks.one_ends();
  }
  void call() noexcept {
    try {
      charge_shared_item(*item_, place_, false);
      result_.emplace((*function_)(std::move(*item_)));
      charge_shared_item(*result_, place_, true);
    } catch (...) {
      failure_ = std::current_exception();
    }
    item_.reset();
  }

  F* function_ = nullptr;
  counted_tasks* tasks_ = nullptr;
  std::size_t place_ = 0;
  std::optional<T> item_;
  completion end_;
  std::optional<R> result_;
  std::exception_ptr failure_;
};

/// A started item on its way to the process that passes its result on.
template <class Item>
struct started_task {
  static constexpr const char* item_name = "task";  ///< for reports
  Item* item;
};

}  // namespace creek::stream::detail

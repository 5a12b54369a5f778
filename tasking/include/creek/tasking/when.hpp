// SPDX-License-Identifier: Apache-2.0
// Futures of several futures.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include <creek/tasking/future.hpp>

namespace creek {

namespace detail {

/// Counts the inputs of a when_all; the last one to become ready gathers them.
template <class Result>
class gathering : public future_state<Result> {
 public:
  explicit gathering(std::size_t inputs) noexcept : future_state<Result>(2), missing_(inputs + 1) {}
  /// Called when one input is ready, and once by the maker when all are attached.
  strand* arrived() noexcept {
    if (missing_.fetch_sub(1, std::memory_order_acq_rel) != 1) return nullptr;
    store_outcome(static_cast<future_state<Result>&>(*this), [this] { return gather(); });
    strand* next = this->publish();
    this->release();
    return next;
  }

 protected:
  virtual Result gather() = 0;

 private:
  std::atomic<std::size_t> missing_;
};

template <class Result>
struct gather_listener : ready_listener {
  gathering<Result>* target = nullptr;
  gather_listener() {
    notify = [](ready_listener* self) noexcept {
      return static_cast<gather_listener*>(self)->target->arrived();
    };
  }
  void attach(gathering<Result>* state, future_state_base& input) noexcept {
    target = state;
    input.drop_silently();  // of several exceptions the first in order stands for all
    if (!input.listen(this)) {
      // Never the last arrival: the maker's own is still to come.
      [[maybe_unused]] strand* none = state->arrived();
    }
  }
};

template <class... T>
class gather_tuple final : public gathering<std::tuple<stored_t<T>...>> {
 public:
  using result = std::tuple<stored_t<T>...>;
  explicit gather_tuple(state_ptr<future_state<T>>... inputs)
      : gathering<result>(sizeof...(T)), inputs_(std::move(inputs)...) {}
  void attach() noexcept {
    std::apply(
        [this](auto&... input) {
          std::size_t i = 0;
          (listeners_[i++].attach(this, *input), ...);
        },
        inputs_);
    if (strand* next = this->arrived()) next->home->resume(next);
  }

 private:
  result gather() override {
    return std::apply([](auto&... input) { return result{input->take()...}; }, inputs_);
  }
  std::tuple<state_ptr<future_state<T>>...> inputs_;
  std::array<gather_listener<result>, sizeof...(T)> listeners_;
};

template <class T>
class gather_vector final : public gathering<std::vector<stored_t<T>>> {
 public:
  using result = std::vector<stored_t<T>>;
  explicit gather_vector(std::vector<state_ptr<future_state<T>>> inputs)
      : gathering<result>(inputs.size()), inputs_(std::move(inputs)), listeners_(inputs_.size()) {}
  void attach() noexcept {
    for (std::size_t i = 0; i < inputs_.size(); ++i) listeners_[i].attach(this, *inputs_[i]);
    if (strand* next = this->arrived()) next->home->resume(next);
  }

 private:
  result gather() override {
    result all;
    all.reserve(inputs_.size());
    for (auto& input : inputs_) all.push_back(input->take());
    return all;
  }
  std::vector<state_ptr<future_state<T>>> inputs_;
  std::vector<gather_listener<result>> listeners_;
};

}  // namespace detail

/// Returns a future that is ready when all are; its value is a tuple of the results (std::monostate
/// for void), its exception that of the first failed one, in argument order. Consumes the futures.
template <class... T>
future<std::tuple<detail::stored_t<T>...>> when_all(future<T>... futures) {
  using state_type = detail::gather_tuple<T...>;
  auto* state = new state_type(futures.consume("when_all")...);
  future<typename state_type::result> all(
      detail::state_ptr<detail::future_state<typename state_type::result>>{state});
  state->attach();
  return all;
}

/// Does the same for any number of futures of one type; the results are a vector in the same order.
template <class T>
future<std::vector<detail::stored_t<T>>> when_all(std::vector<future<T>> futures) {
  using state_type = detail::gather_vector<T>;
  std::vector<detail::state_ptr<detail::future_state<T>>> inputs;
  inputs.reserve(futures.size());
  for (auto& input : futures) inputs.push_back(input.consume("when_all"));
  auto* state = new state_type(std::move(inputs));
  future<typename state_type::result> all(
      detail::state_ptr<detail::future_state<typename state_type::result>>{state});
  state->attach();
  return all;
}

/// Result of when_any: which future was ready first, and all of them, still to be consumed.
template <class T>
struct when_any_result {
  std::size_t index;
  std::vector<future<T>> futures;
};

namespace detail {

/// State that becomes ready with the first input. The listeners stay attached to the others, so it
/// lives until all are ready, or are destroyed with their producers.
template <class T>
class first_of final : public future_state<when_any_result<T>> {
 public:
  explicit first_of(std::vector<future<T>> inputs)
      : future_state<when_any_result<T>>(static_cast<int>(inputs.size()) + 2),
        inputs_(std::move(inputs)),
        listeners_(inputs_.size()) {}
  void attach() noexcept {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      listeners_[i].race = this;
      listeners_[i].index = i;
      if (!inputs_[i].state()->listen(&listeners_[i])) {
        [[maybe_unused]] strand* none = win(i);  // publishing waits for the maker's step below
        this->release();
      }
    }
    if (strand* next = step()) next->home->resume(next);
    this->release();
  }

 private:
  struct listener : ready_listener {
    first_of* race = nullptr;
    std::size_t index = 0;
    listener() {
      notify = [](ready_listener* self) noexcept {
        auto* me = static_cast<listener*>(self);
        first_of* joined = me->race;
        strand* next = joined->win(me->index);
        joined->release();
        return next;
      };
    }
  };
  strand* win(std::size_t index) noexcept {
    std::size_t none = no_winner;
    return winner_.compare_exchange_strong(none, index, std::memory_order_acq_rel) ? step()
                                                                                   : nullptr;
  }
  /// Two steps make the result: an input has won, and the maker has attached to every input.
  strand* step() noexcept {
    if (steps_.fetch_add(1, std::memory_order_acq_rel) == 0) return nullptr;
    store_outcome(static_cast<future_state<when_any_result<T>>&>(*this), [this] {
      return when_any_result<T>{winner_.load(std::memory_order_acquire), std::move(inputs_)};
    });
    return this->publish();
  }

  static constexpr std::size_t no_winner = static_cast<std::size_t>(-1);
  std::vector<future<T>> inputs_;
  std::vector<listener> listeners_;
  std::atomic<std::size_t> winner_{no_winner};
  std::atomic<int> steps_{0};
};

}  // namespace detail

/// Returns a future that is ready when the first of the futures is. Throws usage_error if there is
/// none. Consumes them; the result gives them back.
template <class T>
future<when_any_result<T>> when_any(std::vector<future<T>> futures) {
  if (futures.empty()) throw usage_error("when_any: needs at least one future");
  for (auto& input : futures) {
    if (!input.valid()) throw usage_error("when_any: one of the futures is empty");
  }
  auto* state = new detail::first_of<T>(std::move(futures));
  future<when_any_result<T>> first(
      detail::state_ptr<detail::future_state<when_any_result<T>>>{state});
  state->attach();
  return first;
}

}  // namespace creek

// SPDX-License-Identifier: Apache-2.0
// Calls that nobody waits for: one at a time, merged with others, and of many items.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <creek/tasking/detail/remote_call.hpp>

namespace creek::detail {

template <post_failure_handler OnFailure = nullptr, class F>
void post_closure(executor& home, unsigned worker, remote_cell* object, F&& closure) {
  closure_message<std::decay_t<F>, void, OnFailure>::send(home, worker, object, std::move(closure),
                                                          nullptr);
  if (current_executor() == &home) home.messages().yield();
}

/// A post of F that is merged with others. Lies in the message.
template <class T, class F, post_failure_handler OnFailure>
struct mergeable_post {
  using closure = decltype(bind_call<T>(std::declval<const F&>()));
  using message = closure_message<closure, void, OnFailure>;
  static_assert(message::in_place && sizeof(closure) == sizeof(F),
                "a mergeable operation may have at most 72 bytes");

  static bool merge(std::byte* into, void* added) noexcept {
    union room {
      room() {}
      F merged;
    } here;
    const F& next = *static_cast<const F*>(added);
    std::memcpy(static_cast<void*>(&here.merged), into + sizeof(message_head), sizeof(F));
    if constexpr (requires { here.merged.may_merge(next); }) {
      if (!here.merged.may_merge(next)) return false;
    }
    here.merged.merge(next);
    std::memcpy(into + sizeof(message_head), static_cast<const void*>(&here.merged), sizeof(F));
    return true;
  }
  static std::size_t write(std::byte* bytes, remote_cell* object, void* added) {
    const message_head head{&message::run, object, nullptr};
    std::memcpy(bytes, &head, sizeof head);
    std::memcpy(bytes + sizeof head, added, sizeof(F));
    return sizeof head + sizeof(F);
  }
  static constexpr merged_post::operation kind{&merge, &write};
};

/// Posts of F with an item each, as one message that carries a pointer to all.
template <class T, class F, class Item, post_failure_handler OnFailure>
struct batched_post {
  struct batch {
    F f;
    std::vector<Item> items;
    void operator()(void* object) {
      for (auto&& each : items) {
        if constexpr (OnFailure == nullptr) {
          call(object, static_cast<Item&&>(each));
        } else {
          try {
            call(object, static_cast<Item&&>(each));
          } catch (...) {
            OnFailure(object, std::current_exception());
          }
        }
      }
    }
    void call(void* object, Item&& item) const {
      F own = f;
      std::invoke(own, *static_cast<T*>(object), std::move(item));
    }
  };
  struct addition {
    const F& f;
    Item& item;
  };
  using message = closure_message<batch, void, OnFailure>;
  static_assert(!message::in_place);

  static bool merge(std::byte* into, void* added) noexcept {
    const auto& next = *static_cast<addition*>(added);
    batch* carried = nullptr;
    std::memcpy(&carried, into + sizeof(message_head), sizeof carried);
    if constexpr (!std::is_empty_v<F>) {
      if (std::memcmp(&carried->f, &next.f, sizeof(F)) != 0) return false;
    }
    carried->items.push_back(std::move(next.item));  // there is room
    return true;
  }
  static std::size_t write(std::byte* bytes, remote_cell* object, void* added) {
    const auto& first = *static_cast<addition*>(added);
    auto made = std::make_unique<batch>(batch{first.f, {}});
    made->items.reserve(merged_post::max_merged);
    made->items.push_back(std::move(first.item));
    const message_head head{&message::run, object, nullptr};
    batch* const carried = made.release();
    std::memcpy(bytes, &head, sizeof head);
    std::memcpy(bytes + sizeof head, &carried, sizeof carried);
    return sizeof head + sizeof carried;
  }
  static constexpr merged_post::operation kind{&merge, &write};
};

/// Posts if there is room; returns false if not.
template <post_failure_handler OnFailure, class F>
bool try_post_closure(remote_cell& object, F&& closure) {
  executor& home = object.place().home;
  if (!closure_message<std::decay_t<F>, void, OnFailure>::try_send(home, object.place().worker,
                                                                   &object, std::move(closure)))
    return false;
  if (current_executor() == &home) home.messages().yield();
  return true;
}

template <class T>
void take_post_failure(void* object, std::exception_ptr why) {
  static_cast<T*>(object)->on_post_failure(std::move(why));
}
/// Returns the handler of T for exceptions of posts, or null.
template <class T>
constexpr post_failure_handler failure_handler() noexcept {
  static_assert(sizeof(T) > 0, "remote<T>::post needs to know whether T has on_post_failure()");
  if constexpr (requires(T & object, std::exception_ptr why) {
                  object.on_post_failure(std::move(why));
                }) {
    return &take_post_failure<T>;
  } else {
    return nullptr;
  }
}

/// Calls `f` with the object and each item of a message.
template <class T, class F, class Item, std::size_t Room>
struct call_for_few {
  F f;
  std::uint32_t count = 0;
  Item items[Room];

  void operator()(T& object) {
    for (std::uint32_t i = 0; i < count; ++i) std::invoke(f, object, std::move(items[i]));
  }
};
/// Number of items that travel in a message with F; 0 if they, or F, cannot.
template <class F, class Item>
inline constexpr std::size_t items_in_a_message = [] {
  constexpr std::size_t room = active_message_bytes - sizeof(message_head) - 2 * sizeof(long);
  if constexpr (!std::is_trivially_copyable_v<F> || !std::is_trivially_copyable_v<Item> ||
                !std::is_trivially_default_constructible_v<Item> ||
                !std::is_copy_assignable_v<Item> || alignof(Item) > alignof(long) ||
                alignof(F) > alignof(long) || sizeof(F) > 2 * sizeof(long)) {
    return std::size_t{0};
  } else {
    return (room - (sizeof(F) > sizeof(long) ? sizeof(long) : 0)) / sizeof(Item);
  }
}();
template <class T, class F, class Item>
struct call_for_many {
  F f;
  std::vector<Item> items;

  void operator()(T& object) {
    for (auto&& each : items) std::invoke(f, object, static_cast<Item&&>(each));
  }
};

}  // namespace creek::detail

// SPDX-License-Identifier: Apache-2.0
// Results of the operations of a channel (channel.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <creek/core/language.hpp>

namespace creek {

/// How an operation on a channel ended.
enum class channel_status : std::uint8_t {
  done,
  not_ready,  ///< the channel was full or empty, and the operation does not wait
  timeout,
  stopped,  ///< by a stop request
  closed,   ///< to a send at once; to a receive once all items were received
};

/// Result of a send: true if the item was sent, else status() says why not.
class [[nodiscard]] send_result {
 public:
  explicit send_result(channel_status status) noexcept : status_(status) {}
  explicit operator bool() const noexcept { return status_ == channel_status::done; }
  [[nodiscard]] channel_status status() const noexcept { return status_; }

 private:
  channel_status status_;
};

/// Result of a receive: an item, or the reason why there is none.
template <class T>
class [[nodiscard]] receive_result {
 public:
  explicit receive_result(std::optional<T>&& item, channel_status status)
      : item_(std::move(item)), status_(status) {}
  explicit operator bool() const noexcept { return item_.has_value(); }
  [[nodiscard]] channel_status status() const noexcept { return status_; }
  /// The item. There must be one.
  [[nodiscard]] T& operator*() & noexcept { return *item_; }
  [[nodiscard]] const T& operator*() const& noexcept { return *item_; }
  [[nodiscard]] T&& operator*() && noexcept { return *std::move(item_); }
  [[nodiscard]] T* operator->() noexcept { return &*item_; }
  [[nodiscard]] const T* operator->() const noexcept { return &*item_; }

 private:
  std::optional<T> item_;
  channel_status status_;
};

}  // namespace creek

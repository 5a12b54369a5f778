// SPDX-License-Identifier: Apache-2.0
// Messages that a worker has taken out of its box and not handled yet.
#pragma once

#include <cstddef>

#include <creek/tasking/ext/remote_cell.hpp>

namespace creek::host_backend {

/// Messages that wait in their worker's own memory, first in, first out. Only that worker uses it.
/// Records of handled messages are kept, up to `max_spare`, for the next ones.
class message_backlog {
 public:
  message_backlog() = default;
  message_backlog(const message_backlog&) = delete;
  message_backlog& operator=(const message_backlog&) = delete;
  ~message_backlog() {
    while (ext::kept_message* unused = spare_.pop()) delete unused;
  }
  bool empty() const noexcept { return queue_.empty(); }
  std::size_t size() const noexcept { return queue_.size(); }
  void push(const void* message, std::size_t bytes) { queue_.push(make(message, bytes)); }
  /// Number of messages that can be made without memory.
  std::size_t spares() const noexcept { return spare_.size(); }
  /// Makes a message that is kept elsewhere.
  ext::kept_message* make(const void* message, std::size_t bytes) {
    ext::kept_message* made = spare_.pop();
    if (made == nullptr) made = new ext::kept_message;
    made->assign(message, bytes);
    return made;
  }
  /// Adds a message that was kept elsewhere.
  void push(ext::kept_message* kept) noexcept { queue_.push(kept); }
  ext::kept_message* pop() noexcept { return queue_.pop(); }
  /// Takes back a popped message that is not needed any more, for another push().
  void recycle(ext::kept_message* unused) noexcept {
    if (spare_.size() >= max_spare) {
      delete unused;
    } else {
      spare_.push_front(unused);  // the next one finds it in the cache
    }
  }

 private:
  static constexpr std::size_t max_spare = 512;
  ext::message_queue queue_, spare_;
};

}  // namespace creek::host_backend

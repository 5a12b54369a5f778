// SPDX-License-Identifier: Apache-2.0
#include "lone_rank.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

namespace creek::mpi_backend {
namespace {

constexpr int truncated = 1;

/// A receive that was begun.
struct receive {
  void* to;
  std::size_t room;
  message_kind kind;
  bool done = false;
  std::size_t received = 0;
};

/// Messages of one communicator to its only rank.
struct own_messages {
  struct message {
    message_kind kind;
    std::vector<std::byte> bytes;
  };
  std::deque<message> arrived;
  std::deque<receive*> begun;

  /// Gives messages to receives of their kind, both in order.
  void match() {
    for (auto at = begun.begin(); at != begun.end();) {
      receive& one = **at;
      const auto found = std::ranges::find(arrived, one.kind, &message::kind);
      if (found == arrived.end()) {
        ++at;
        continue;
      }
      one.received = found->bytes.size();
      std::memcpy(one.to, found->bytes.data(), std::min(one.room, one.received));
      one.done = true;
      arrived.erase(found);
      at = begun.erase(at);
    }
  }
};

own_messages& of(void* communicator) noexcept {
  return *static_cast<own_messages*>(communicator);
}

/// A request is a receive and its communicator; null for what is done when it is begun.
struct request {
  receive* what;
  own_messages* in;
};
request* request_in(const request_handle& handle) noexcept {
  request* begun;
  std::memcpy(&begun, handle.memory, sizeof begun);
  return begun;
}
void store(request* begun, request_handle& handle) noexcept {
  std::memcpy(handle.memory, &begun, sizeof begun);
}
void finish(request_handle& handle) noexcept {
  request* const begun = request_in(handle);
  if (begun == nullptr) return;
  std::erase(begun->in->begun, begun->what);
  delete begun->what;
  delete begun;
  store(nullptr, handle);
}
int nothing_to_do(request_handle* begun) noexcept {
  store(nullptr, *begun);
  return 0;
}

}  // namespace

const calls lone_rank{
    .describe = [](char* to, std::size_t room) { std::snprintf(to, room, "one rank without MPI"); },
    .explain = [](int, char* to,
                  std::size_t room) { std::snprintf(to, room, "message truncated"); },
    .is_truncation = [](int code) { return code == truncated; },
    .processor = [](char* to, std::size_t room) { gethostname(to, room); },
    .is_initialised = [] { return true; },
    .is_finalised = [] { return false; },
    .initialise = [](int*, char***) { return 0; },
    .finalise = [] { return 0; },
    .abort = [](int exit_code) { std::_Exit(exit_code); },
    .open =
        [](const void*, void** made) {
          *made = new own_messages;
          return 0;
        },
    .split =
        [](void*, int, int, void** made) {
          *made = new own_messages;
          return 0;
        },
    .close = [](void* communicator) { delete &of(communicator); },
    .rank = [](void*) { return 0; },
    .size = [](void*) { return 1; },
    .split_here =
        [](void*, void** made) {
          *made = new own_messages;
          return 0;
        },
    .begin_send =
        [](void* communicator, const void* data, std::size_t bytes, int, message_kind kind,
           request_handle* begun) {
          const auto* const from = static_cast<const std::byte*>(data);
          of(communicator).arrived.push_back({kind, {from, from + bytes}});
          return nothing_to_do(begun);
        },
    .begin_receive =
        [](void* communicator, void* data, std::size_t bytes, int, message_kind kind,
           request_handle* begun) {
          auto made = std::make_unique<receive>(receive{data, bytes, kind});
          store(new request{made.get(), &of(communicator)}, *begun);
          of(communicator).begun.push_back(made.release());
          return 0;
        },
    .begin_barrier = [](void*, request_handle* begun) { return nothing_to_do(begun); },
    .begin_broadcast = [](void*, void*, std::size_t, int,
                          request_handle* begun) { return nothing_to_do(begun); },
    .test =
        [](request_handle* begun, bool* done, std::size_t* received, int* from) {
          request* const one = request_in(*begun);
          *done = true;
          if (one == nullptr) return 0;
          one->in->match();
          *done = one->what->done;
          if (!*done) return 0;
          *received = one->what->received;
          *from = 0;
          const bool fits = one->what->received <= one->what->room;
          finish(*begun);
          return fits ? 0 : truncated;
        },
    .forget = [](request_handle* begun, bool) { finish(*begun); },
    .look =
        [](void* communicator, int, message_kind kind, bool* is_there) {
          const auto& all = of(communicator).arrived;
          *is_there = std::ranges::find(all, kind, &own_messages::message::kind) != all.end();
          return 0;
        },
};

}  // namespace creek::mpi_backend

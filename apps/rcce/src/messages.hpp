// SPDX-License-Identifier: Apache-2.0
// Sends, receives and collectives of a set of UEs, on top of the messages between all UEs.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <creek/core/messages/collectives.hpp>

#include "ue.hpp"

namespace creek::rcce {

inline bool is_ue(const ue& self, int number) noexcept {
  return number >= 0 && number < self.count;
}

inline message_request request_for(const void* data, std::size_t bytes, int peer, bool pipelined) {
  message_request made;
  // A sender only reads the data, so the const_cast is safe.
  made.data = static_cast<std::byte*>(const_cast<void*>(data));
  made.bytes = bytes;
  made.peer = peer;
  made.parts = pipelined ? 2 : 1;
  return made;
}

inline void send(ue& self, const void* data, std::size_t bytes, int to, bool pipelined) {
  message_request request = request_for(data, bytes, to, pipelined);
  self.begin_send(request);
  self.wait(request);
}
inline void receive(ue& self, void* data, std::size_t bytes, int from, bool pipelined) {
  message_request request = request_for(data, bytes, from, pipelined);
  self.begin_receive(request);
  self.wait(request);
}

/// The UEs of an RCCE_COMM as a channel for core's collectives.
class group : public collectives<group> {
 public:
  group(ue& self, const RCCE_COMM& of) noexcept : self_{self}, of_{of} {}

  [[nodiscard]] int rank() const noexcept { return of_.my_rank; }
  [[nodiscard]] int size() const noexcept { return of_.size; }

  template <class T>
  void send(std::span<const T> data, int to) {
    rcce::send(self_, data.data(), data.size_bytes(), of_.member[to], self_.chosen.pipelined);
  }
  template <class T>
  void recv(std::span<T> data, int from) {
    receive(self_, data.data(), data.size_bytes(), of_.member[from], self_.chosen.pipelined);
  }
  template <class T>
  void exchange(std::span<const T> out, int to, std::span<T> in, int from) {
    const bool pipelined = self_.chosen.pipelined;
    auto sent = request_for(out.data(), out.size_bytes(), of_.member[to], pipelined);
    auto got = request_for(in.data(), in.size_bytes(), of_.member[from], pipelined);
    self_.begin_send(sent);
    self_.begin_receive(got);
    self_.wait(got);
    self_.wait(sent);
  }

 private:
  ue& self_;
  const RCCE_COMM& of_;
};

/// Returns whether the program made this communicator here and has not freed it.
bool is_communicator(const ue& self, const RCCE_COMM& comm) noexcept;
inline bool is_communicator(const ue& self, const RCCE_COMM* comm) noexcept {
  return comm != nullptr && is_communicator(self, *comm);
}
void barrier(ue& self, const RCCE_COMM& comm);
/// Makes `comm` of the UEs with this UE's colour by `color`; all UEs call it together.
int make_communicator(ue& self, const std::function<int(int)>& color, RCCE_COMM& comm);

}  // namespace creek::rcce

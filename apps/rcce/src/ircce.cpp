// SPDX-License-Identifier: Apache-2.0
// iRCCE: requests over the pending messages of core/messages/rendezvous.hpp.
#include <algorithm>
#include <new>
#include <vector>

#include "call.hpp"
#include "messages.hpp"

namespace creek::rcce {

namespace {

/// Contents of a request.
struct tracked {
  message_request message;
  bool cancelled = false;
};

template <class Request>
tracked& tracked_in(Request& request) {
  static_assert(sizeof(tracked) <= sizeof request.opaque);
  return *std::launder(reinterpret_cast<tracked*>(request.opaque));
}
template <class Request>
message_request& message_of(Request& request) {
  return tracked_in(request).message;
}
template <class Request>
message_request& track(Request& request, const message_request& message) {
  return (new (request.opaque) tracked{message})->message;
}

/// Stores for the program the sender of the message that an any-source request got.
void settle(iRCCE_SEND_REQUEST&) {}
void settle(iRCCE_RECV_REQUEST& request) {
  request.source = message_of(request).peer;
}

template <class Request>
int state_of(ue& self, Request& request) {
  if (tracked_in(request).cancelled) return iRCCE_NOT_ENQUEUED;
  if (!message_of(request).complete) {
    return self.is_first(message_of(request)) ? iRCCE_PENDING : iRCCE_RESERVED;
  }
  settle(request);
  return iRCCE_SUCCESS;
}

int tell(int state, int* done) {
  if (done != nullptr) *done = state == iRCCE_SUCCESS ? 1 : 0;
  return state;
}
bool all_complete(ue& self, const iRCCE_SEND_REQUEST*) {
  return !self.sending();
}
bool all_complete(ue& self, const iRCCE_RECV_REQUEST*) {
  return !self.receiving();
}
/// Tests `request`; if it is null, tests all sends or all receives.
template <class Request>
int test(ue& self, Request* request, int* done) {
  if (request == nullptr || !message_of(*request).complete) self.push();
  if (request != nullptr) return tell(state_of(self, *request), done);
  return tell(all_complete(self, request) ? iRCCE_SUCCESS : iRCCE_PENDING, done);
}
template <class Request>
int await(ue& self, Request* request) {
  if (request == nullptr) {
    self.wait_for([&] { return all_complete(self, request); });
    return iRCCE_SUCCESS;
  }
  if (!tracked_in(*request).cancelled) self.wait(message_of(*request));
  return state_of(self, *request);
}
template <class Request>
int cancel(ue& self, Request* request, int* cancelled) {
  if (cancelled != nullptr) *cancelled = 0;
  if (request == nullptr || tracked_in(*request).cancelled || message_of(*request).complete) {
    return iRCCE_NOT_ENQUEUED;
  }
  if (!self.cancel(message_of(*request))) return iRCCE_PENDING;
  tracked_in(*request).cancelled = true;
  if (cancelled != nullptr) *cancelled = 1;
  return iRCCE_SUCCESS;
}

/// An entry of a wait list; one of the two is null.
struct listed {
  iRCCE_SEND_REQUEST* send;
  iRCCE_RECV_REQUEST* recv;
  /// Returns whether the request is complete or cancelled, so that nothing more follows.
  [[nodiscard]] bool over() const { return send != nullptr ? over(*send) : over(*recv); }

 private:
  template <class Request>
  static bool over(Request& request) {
    if (message_of(request).complete) settle(request);
    return message_of(request).complete || tracked_in(request).cancelled;
  }
};
using wait_list = std::vector<listed>;

/// Returns the list, which is made at the first request and freed with the last.
wait_list& list_of(iRCCE_WAIT_LIST& list) {
  if (list.opaque == nullptr) list.opaque = new wait_list;
  return *static_cast<wait_list*>(list.opaque);
}
void clear(iRCCE_WAIT_LIST& list) {
  delete static_cast<wait_list*>(list.opaque);
  list.opaque = nullptr;
}
bool all_over(const wait_list& list) {
  return std::all_of(list.begin(), list.end(), [](const listed& one) { return one.over(); });
}
wait_list::iterator find_over(wait_list& list) {
  return std::find_if(list.begin(), list.end(), [](const listed& one) { return one.over(); });
}

/// Removes the first request that is over from the list and returns it.
int take_any(iRCCE_WAIT_LIST& list, iRCCE_SEND_REQUEST** send, iRCCE_RECV_REQUEST** recv) {
  if (send != nullptr) *send = nullptr;
  if (recv != nullptr) *recv = nullptr;
  if (list.opaque == nullptr) return iRCCE_NOT_ENQUEUED;
  wait_list& waiting = list_of(list);
  const auto first = find_over(waiting);
  if (first == waiting.end()) return iRCCE_PENDING;
  if (send != nullptr) *send = first->send;
  if (recv != nullptr) *recv = first->recv;
  waiting.erase(first);
  if (waiting.empty()) clear(list);
  return iRCCE_SUCCESS;
}

/// Returns the first UE with a message that waits for a receive that has not begun.
int first_arrived(ue& self, int from) {
  if (from != iRCCE_ANY_SOURCE) return self.arrived(from) ? from : iRCCE_ANY_SOURCE;
  for (int other = 0; other < self.count; ++other) {
    if (self.arrived(other)) return other;
  }
  return iRCCE_ANY_SOURCE;
}

}  // namespace

}  // namespace creek::rcce

using namespace creek::rcce;

extern "C" {

int iRCCE_init(void) {
  return iRCCE_SUCCESS;
}

int iRCCE_isend(char* data, ssize_t size, int to, iRCCE_SEND_REQUEST* request) {
  return call_checked("iRCCE_isend", RCCE_DEBUG_COMM, {"to UE", to}, [&](ue& self) {
    if (!is_ue(self, to)) return RCCE_ERROR_ID;
    if (size < 0) return RCCE_ERROR_MESSAGE_LENGTH;
    if (request == nullptr) {
      send(self, data, static_cast<std::size_t>(size), to, false);
      return iRCCE_SUCCESS;
    }
    request->privbuf = data;
    request->dest = to;
    request->size = static_cast<std::size_t>(size);
    self.begin_send(track(*request, request_for(data, request->size, to, false)));
    return state_of(self, *request);
  });
}

int iRCCE_irecv(char* data, ssize_t size, int from, iRCCE_RECV_REQUEST* request) {
  return call_checked("iRCCE_irecv", RCCE_DEBUG_COMM, {"from UE", from}, [&](ue& self) {
    if (from != iRCCE_ANY_SOURCE && !is_ue(self, from)) return RCCE_ERROR_ID;
    if (size < 0) return RCCE_ERROR_MESSAGE_LENGTH;
    const int peer = from == iRCCE_ANY_SOURCE ? creek::any_peer : from;
    if (request == nullptr) {
      receive(self, data, static_cast<std::size_t>(size), peer, false);
      return iRCCE_SUCCESS;
    }
    request->privbuf = data;
    request->source = from;
    request->size = static_cast<std::size_t>(size);
    self.begin_receive(track(*request, request_for(data, request->size, peer, false)));
    return state_of(self, *request);
  });
}

int iRCCE_isend_test(iRCCE_SEND_REQUEST* request, int* done) {
  return call("iRCCE_isend_test", {}, [&](ue& self) { return test(self, request, done); });
}
int iRCCE_irecv_test(iRCCE_RECV_REQUEST* request, int* done) {
  return call("iRCCE_irecv_test", {}, [&](ue& self) { return test(self, request, done); });
}
int iRCCE_isend_wait(iRCCE_SEND_REQUEST* request) {
  return call("iRCCE_isend_wait", {"to UE", request != nullptr ? request->dest : -1},
              [&](ue& self) { return await(self, request); });
}
int iRCCE_irecv_wait(iRCCE_RECV_REQUEST* request) {
  return call("iRCCE_irecv_wait", {"from UE", request != nullptr ? request->source : -1},
              [&](ue& self) { return await(self, request); });
}

int iRCCE_isend_push(void) {
  return call("iRCCE_isend_push", {}, [](ue& self) {
    self.push();
    return self.sending() ? iRCCE_PENDING : iRCCE_SUCCESS;
  });
}
int iRCCE_irecv_push(void) {
  return call("iRCCE_irecv_push", {}, [](ue& self) {
    self.push();
    return self.receiving() ? iRCCE_PENDING : iRCCE_SUCCESS;
  });
}

int iRCCE_isend_cancel(iRCCE_SEND_REQUEST* request, int* cancelled) {
  return call("iRCCE_isend_cancel", {}, [&](ue& self) { return cancel(self, request, cancelled); });
}
int iRCCE_irecv_cancel(iRCCE_RECV_REQUEST* request, int* cancelled) {
  return call("iRCCE_irecv_cancel", {}, [&](ue& self) { return cancel(self, request, cancelled); });
}

void iRCCE_init_wait_list(iRCCE_WAIT_LIST* list) {
  list->opaque = nullptr;
}

void iRCCE_add_to_wait_list(iRCCE_WAIT_LIST* list, iRCCE_SEND_REQUEST* send,
                            iRCCE_RECV_REQUEST* recv) {
  call("iRCCE_add_to_wait_list", {}, [&](ue&) {
    if (send != nullptr) list_of(*list).push_back({send, nullptr});
    if (recv != nullptr) list_of(*list).push_back({nullptr, recv});
  });
}

int iRCCE_wait_all(iRCCE_WAIT_LIST* list) {
  return call("iRCCE_wait_all", {}, [&](ue& self) {
    self.wait_for([&] { return all_over(list_of(*list)); });
    clear(*list);
    return iRCCE_SUCCESS;
  });
}

int iRCCE_test_all(iRCCE_WAIT_LIST* list, int* done) {
  return call("iRCCE_test_all", {}, [&](ue& self) {
    self.push();
    if (!all_over(list_of(*list))) return tell(iRCCE_PENDING, done);
    clear(*list);
    return tell(iRCCE_SUCCESS, done);
  });
}

int iRCCE_wait_any(iRCCE_WAIT_LIST* list, iRCCE_SEND_REQUEST** send, iRCCE_RECV_REQUEST** recv) {
  return call("iRCCE_wait_any", {}, [&](ue& self) {
    if (list->opaque == nullptr) return take_any(*list, send, recv);
    self.wait_for([&] { return find_over(list_of(*list)) != list_of(*list).end(); });
    return take_any(*list, send, recv);
  });
}

int iRCCE_test_any(iRCCE_WAIT_LIST* list, iRCCE_SEND_REQUEST** send, iRCCE_RECV_REQUEST** recv) {
  return call("iRCCE_test_any", {}, [&](ue& self) {
    self.push();
    const int state = take_any(*list, send, recv);
    return state == iRCCE_NOT_ENQUEUED ? iRCCE_PENDING : state;
  });
}

void iRCCE_add_send_to_wait_list(iRCCE_WAIT_LIST* list, iRCCE_SEND_REQUEST* send) {
  iRCCE_add_to_wait_list(list, send, nullptr);
}
void iRCCE_add_recv_to_wait_list(iRCCE_WAIT_LIST* list, iRCCE_RECV_REQUEST* recv) {
  iRCCE_add_to_wait_list(list, nullptr, recv);
}

int iRCCE_get_dest(iRCCE_SEND_REQUEST* request) {
  return request != nullptr ? request->dest : iRCCE_ERROR;
}
int iRCCE_get_source(iRCCE_RECV_REQUEST* request) {
  return request != nullptr ? request->source : iRCCE_ERROR;
}
int iRCCE_get_size(iRCCE_SEND_REQUEST* send, iRCCE_RECV_REQUEST* recv) {
  if (send != nullptr) return static_cast<int>(send->size);
  return recv != nullptr ? static_cast<int>(recv->size) : iRCCE_ERROR;
}

int iRCCE_probe(int from, int* rank) {
  return call_checked("iRCCE_probe", RCCE_DEBUG_COMM, {"from UE", from}, [&](ue& self) {
    if (from != iRCCE_ANY_SOURCE && !is_ue(self, from)) return RCCE_ERROR_ID;
    int found = iRCCE_ANY_SOURCE;
    self.wait_for([&] {
      found = first_arrived(self, from);
      return found != iRCCE_ANY_SOURCE;
    });
    if (rank != nullptr) *rank = found;
    return iRCCE_SUCCESS;
  });
}
int iRCCE_iprobe(int from, int* rank, int* found) {
  return call_checked("iRCCE_iprobe", RCCE_DEBUG_COMM, {"from UE", from}, [&](ue& self) {
    if (from != iRCCE_ANY_SOURCE && !is_ue(self, from)) return RCCE_ERROR_ID;
    self.push();
    const int first = first_arrived(self, from);
    if (rank != nullptr) *rank = first;
    if (found != nullptr) *found = first != iRCCE_ANY_SOURCE ? 1 : 0;
    return iRCCE_SUCCESS;
  });
}

int iRCCE_send(char* data, ssize_t size, int to) {
  return call_checked("iRCCE_send", RCCE_DEBUG_COMM, {"to UE", to}, [&](ue& self) {
    if (!is_ue(self, to)) return RCCE_ERROR_ID;
    if (size < 0) return RCCE_ERROR_MESSAGE_LENGTH;
    send(self, data, static_cast<std::size_t>(size), to, true);
    return iRCCE_SUCCESS;
  });
}

int iRCCE_recv(char* data, ssize_t size, int from) {
  return call_checked("iRCCE_recv", RCCE_DEBUG_COMM, {"from UE", from}, [&](ue& self) {
    if (!is_ue(self, from)) return RCCE_ERROR_ID;
    if (size < 0) return RCCE_ERROR_MESSAGE_LENGTH;
    receive(self, data, static_cast<std::size_t>(size), from, true);
    return iRCCE_SUCCESS;
  });
}

int iRCCE_recv_test(char* data, ssize_t size, int from, int* test) {
  return call_checked("iRCCE_recv_test", RCCE_DEBUG_COMM, {"from UE", from}, [&](ue& self) {
    if (!is_ue(self, from)) return RCCE_ERROR_ID;
    if (size < 0) return RCCE_ERROR_MESSAGE_LENGTH;
    self.push();
    const bool there = size == 0 || self.arrived(from);
    if (there) receive(self, data, static_cast<std::size_t>(size), from, true);
    return tell(there ? iRCCE_SUCCESS : iRCCE_PENDING, test);
  });
}

int iRCCE_barrier(RCCE_COMM* comm) {
  return RCCE_barrier(comm != nullptr ? comm : require_current("iRCCE_barrier").world);
}
int iRCCE_bcast(char* data, size_t size, int root, RCCE_COMM comm) {
  return RCCE_bcast(data, size, root, comm);
}

}  // extern "C"

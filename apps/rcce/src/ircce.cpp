// SPDX-License-Identifier: Apache-2.0
// iRCCE: requests over the pending messages of core/rendezvous.hpp.
#include <algorithm>
#include <new>
#include <vector>

#include "call.hpp"
#include "messages.hpp"

namespace creek::rcce {

namespace {

template <class Request>
message_request& message_of(Request& request) {
  static_assert(sizeof(message_request) <= sizeof request.opaque);
  return *std::launder(reinterpret_cast<message_request*>(request.opaque));
}

int state_of_message(const message_request& message) {
  if (message.complete) return iRCCE_SUCCESS;
  return message.begun != 0 || message.through != 0 ? iRCCE_PENDING : iRCCE_RESERVED;
}

/// Tells the program whose message an any-source request got.
void settle(iRCCE_SEND_REQUEST&) {}
void settle(iRCCE_RECV_REQUEST& request) {
  request.source = message_of(request).peer;
}

template <class Request>
int state_of(Request& request) {
  const int state = state_of_message(message_of(request));
  if (state == iRCCE_SUCCESS) settle(request);
  return state;
}

template <class Request>
int test(ue& self, Request& request, int* done) {
  if (!message_of(request).complete) self.push();
  const int state = state_of(request);
  *done = state == iRCCE_SUCCESS ? 1 : 0;
  return state;
}
template <class Request>
int await(ue& self, Request& request) {
  self.wait(message_of(request));
  return state_of(request);
}
template <class Request>
int cancel(ue& self, Request& request, int* cancelled) {
  const bool was_complete = message_of(request).complete;
  *cancelled = self.cancel(message_of(request)) ? 1 : 0;
  if (*cancelled != 0) return iRCCE_SUCCESS;
  return was_complete ? iRCCE_NOT_ENQUEUED : iRCCE_PENDING;
}

/// One of the two is null.
struct listed {
  iRCCE_SEND_REQUEST* send;
  iRCCE_RECV_REQUEST* recv;
  [[nodiscard]] bool complete() const {
    return (send != nullptr ? state_of(*send) : state_of(*recv)) == iRCCE_SUCCESS;
  }
};
using wait_list = std::vector<listed>;

/// Made at the first request and freed with the last.
wait_list& list_of(iRCCE_WAIT_LIST& list) {
  if (list.opaque == nullptr) list.opaque = new wait_list;
  return *static_cast<wait_list*>(list.opaque);
}
void clear(iRCCE_WAIT_LIST& list) {
  delete static_cast<wait_list*>(list.opaque);
  list.opaque = nullptr;
}
bool all_complete(const wait_list& list) {
  return std::all_of(list.begin(), list.end(), [](const listed& one) { return one.complete(); });
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
    request->dest = to;
    request->size = static_cast<std::size_t>(size);
    auto* message =
        new (request->opaque) creek::message_request(request_for(data, request->size, to, false));
    self.begin_send(*message);
    return state_of(*request);
  });
}

int iRCCE_irecv(char* data, ssize_t size, int from, iRCCE_RECV_REQUEST* request) {
  return call_checked("iRCCE_irecv", RCCE_DEBUG_COMM, {"from UE", from}, [&](ue& self) {
    if (from != iRCCE_ANY_SOURCE && !is_ue(self, from)) return RCCE_ERROR_ID;
    if (size < 0) return RCCE_ERROR_MESSAGE_LENGTH;
    request->source = from;
    request->size = static_cast<std::size_t>(size);
    const int peer = from == iRCCE_ANY_SOURCE ? creek::any_peer : from;
    auto* message =
        new (request->opaque) creek::message_request(request_for(data, request->size, peer, false));
    self.begin_receive(*message);
    return state_of(*request);
  });
}

int iRCCE_isend_test(iRCCE_SEND_REQUEST* request, int* done) {
  return call("iRCCE_isend_test", {}, [&](ue& self) { return test(self, *request, done); });
}
int iRCCE_irecv_test(iRCCE_RECV_REQUEST* request, int* done) {
  return call("iRCCE_irecv_test", {}, [&](ue& self) { return test(self, *request, done); });
}
int iRCCE_isend_wait(iRCCE_SEND_REQUEST* request) {
  return call("iRCCE_isend_wait", {"to UE", request->dest},
              [&](ue& self) { return await(self, *request); });
}
int iRCCE_irecv_wait(iRCCE_RECV_REQUEST* request) {
  return call("iRCCE_irecv_wait", {"from UE", request->source},
              [&](ue& self) { return await(self, *request); });
}

int iRCCE_isend_push(void) {
  return call("iRCCE_isend_push", {}, [](ue& self) {
    self.push();
    return iRCCE_SUCCESS;
  });
}
int iRCCE_irecv_push(void) {
  return call("iRCCE_irecv_push", {}, [](ue& self) {
    self.push();
    return iRCCE_SUCCESS;
  });
}

int iRCCE_isend_cancel(iRCCE_SEND_REQUEST* request, int* cancelled) {
  return call("iRCCE_isend_cancel", {},
              [&](ue& self) { return cancel(self, *request, cancelled); });
}
int iRCCE_irecv_cancel(iRCCE_RECV_REQUEST* request, int* cancelled) {
  return call("iRCCE_irecv_cancel", {},
              [&](ue& self) { return cancel(self, *request, cancelled); });
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
    self.wait_for([&] { return all_complete(list_of(*list)); });
    clear(*list);
    return iRCCE_SUCCESS;
  });
}

int iRCCE_test_all(iRCCE_WAIT_LIST* list, int* done) {
  return call("iRCCE_test_all", {}, [&](ue& self) {
    self.push();
    *done = all_complete(list_of(*list)) ? 1 : 0;
    if (*done == 0) return iRCCE_PENDING;
    clear(*list);
    return iRCCE_SUCCESS;
  });
}

int iRCCE_wait_any(iRCCE_WAIT_LIST* list, iRCCE_SEND_REQUEST** send, iRCCE_RECV_REQUEST** recv) {
  return call("iRCCE_wait_any", {}, [&](ue& self) {
    if (send != nullptr) *send = nullptr;
    if (recv != nullptr) *recv = nullptr;
    if (list->opaque == nullptr) return iRCCE_NOT_ENQUEUED;
    wait_list& waiting = list_of(*list);
    auto first = waiting.end();
    self.wait_for([&] {
      first = std::find_if(waiting.begin(), waiting.end(),
                           [](const listed& one) { return one.complete(); });
      return first != waiting.end();
    });
    if (send != nullptr) *send = first->send;
    if (recv != nullptr) *recv = first->recv;
    waiting.erase(first);
    if (waiting.empty()) clear(*list);
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

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
// RCCE's start and end, two-sided messages, locks and off-chip memory.
#include <algorithm>
#include <cstdio>

#include "call.hpp"
#include "messages.hpp"

namespace creek::rcce {

namespace {

/// Checks the arguments that every message has.
int check_message(const ue& self, int peer) {
  return is_ue(self, peer) ? RCCE_SUCCESS : RCCE_ERROR_ID;
}

/// Fences and lets other UEs run between two polls, for programs that poll memory of RCCE_shmalloc,
/// or an MPB through a pointer.
void fence(ue& self) {
  self.fence();
  self.look_on();
}

}  // namespace

}  // namespace creek::rcce

using namespace creek::rcce;

extern "C" {

int RCCE_init(int* /*argc*/, char*** /*argv*/) {
  return call_checked("RCCE_init", RCCE_DEBUG_SYNCH, {}, [](ue& self) {
    if (self.world == nullptr || self.initialized) return RCCE_SUCCESS;
    self.initialized = true;
    const int error = make_communicator(
        self, [](int) { return 0; }, *self.world);
    if (error != RCCE_SUCCESS || self.power_domain == nullptr) return error;
    return make_communicator(
        self, [&](int other) { return self.power_domain_of(other); }, *self.power_domain);
  });
}

int RCCE_finalize(void) {
  return call_checked("RCCE_finalize", RCCE_DEBUG_SYNCH, {}, [](ue& self) {
    if (self.initialized) barrier(self, *self.world);
    return RCCE_SUCCESS;
  });
}

double RCCE_wtime(void) {
  return call("RCCE_wtime", {}, [](ue& self) { return self.seconds(); });
}
int RCCE_ue(void) {
  return require_current("RCCE_ue").rank;
}
int RCCE_num_ues(void) {
  return require_current("RCCE_num_ues").count;
}

int RCCE_send(char* data, size_t size, int to) {
  return call_checked("RCCE_send", RCCE_DEBUG_COMM, {"to UE", to}, [&](ue& self) {
    const int error = check_message(self, to);
    if (error == RCCE_SUCCESS) send(self, data, size, to, self.chosen.pipelined);
    return error;
  });
}

int RCCE_recv(char* data, size_t size, int from) {
  return call_checked("RCCE_recv", RCCE_DEBUG_COMM, {"from UE", from}, [&](ue& self) {
    const int error = check_message(self, from);
    if (error == RCCE_SUCCESS) receive(self, data, size, from, self.chosen.pipelined);
    return error;
  });
}

int RCCE_recv_test(char* data, size_t size, int from, int* test) {
  return call_checked("RCCE_recv_test", RCCE_DEBUG_COMM, {"from UE", from}, [&](ue& self) {
    const int error = check_message(self, from);
    if (error != RCCE_SUCCESS) return error;
    if (test == nullptr) return RCCE_ERROR_VAL_UNDEFINED;
    self.push();
    *test = size == 0 || self.arrived(from) ? 1 : 0;
    if (*test != 0) receive(self, data, size, from, self.chosen.pipelined);
    return RCCE_SUCCESS;
  });
}

void RCCE_fence(void) {
  call("RCCE_fence", {}, fence);
}

int RCCE_acquire_lock(int of) {
  return call_checked("RCCE_acquire_lock", RCCE_DEBUG_SYNCH, {"of UE", of}, [&](ue& self) {
    if (!is_ue(self, of)) return RCCE_ERROR_ID;
    self.lock(of);
    return RCCE_SUCCESS;
  });
}

int RCCE_release_lock(int of) {
  return call_checked("RCCE_release_lock", RCCE_DEBUG_SYNCH, {"of UE", of}, [&](ue& self) {
    if (!is_ue(self, of)) return RCCE_ERROR_ID;
    self.fence();  // publishes the writes made under the lock
    self.unlock(of);
    return RCCE_SUCCESS;
  });
}

void* RCCE_shmalloc(size_t size) {
  return call("RCCE_shmalloc", {}, [&](ue& self) -> void* {
    auto block = self.shared_pages.allocate(size);
    if (!block) {
      report_error(self, RCCE_DEBUG_COMM, RCCE_ERROR_MALLOC);
      return nullptr;
    }
    self.shared_blocks.push_back(std::move(*block));
    return self.shared.base() + self.shared_blocks.back().offset();
  });
}

void RCCE_shfree(volatile void* pointer) {
  call("RCCE_shfree", {}, [&](ue& self) {
    std::erase_if(self.shared_blocks, [&](const creek::mpm_block& block) {
      return self.shared.base() + block.offset() == pointer;
    });
  });
}

void RCCE_shflush(void) {
  call("RCCE_shflush", {}, fence);
}
int RCCE_DCMflush(void) {
  return call("RCCE_DCMflush", {}, [](ue& self) {
    fence(self);
    return RCCE_SUCCESS;
  });
}

void creek_charge(long long cycles) {
  call("creek_charge", {}, [&](ue& self) {
    if (cycles > 0) self.charge({cycles});
  });
}

}  // extern "C"

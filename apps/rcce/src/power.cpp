// SPDX-License-Identifier: Apache-2.0
// RCCE's power management: voltage and frequency of the island of a UE's core. All UEs of an island
// may make the calls; only the calls of its master have an effect.
#include <algorithm>

#include "call.hpp"

namespace creek::rcce {

namespace {

int divider_for(ue& self, int wanted) {
  return wanted == RCCE_POWER_DEFAULT ? self.default_divider() : wanted;
}

/// Returns the UEs on this UE's island, in order.
std::vector<int> domain_of(ue& self) {
  std::vector<int> members;
  for (int other = 0; other < self.count; ++other) {
    if (self.power_domain_of(other) == self.power_domain_of(self.rank)) members.push_back(other);
  }
  return members;
}

bool is_master(ue& self) {
  return domain_of(self).front() == self.rank;
}

}  // namespace

}  // namespace creek::rcce

using namespace creek::rcce;

extern "C" {

int RCCE_power_domain(void) {
  return call("RCCE_power_domain", {}, [](ue& self) { return self.power_domain_of(self.rank); });
}
int RCCE_power_domain_master(void) {
  return call("RCCE_power_domain_master", {}, [](ue& self) { return domain_of(self).front(); });
}
int RCCE_power_domain_size(void) {
  return call("RCCE_power_domain_size", {},
              [](ue& self) { return static_cast<int>(domain_of(self).size()); });
}

int RCCE_iset_power(int fdiv, RCCE_REQUEST* request, int* new_fdiv, int* new_vlevel) {
  return call_checked("RCCE_iset_power", RCCE_DEBUG_RPC, {"divider", fdiv}, [&](ue& self) {
    if (self.power_pending) return RCCE_ERROR_MULTIPLE_RPC_REQUESTS;
    const int divider = divider_for(self, fdiv);
    int level = 0;
    const bool acts = is_master(self);
    const int error = acts ? self.request_power(divider, level) : self.check_power(divider, level);
    if (error != RCCE_SUCCESS) return error;
    if (acts) {
      self.power_pending = true;
      *request = {1, 0, divider, ++self.power_requests};
    }
    *new_fdiv = divider;
    *new_vlevel = level;
    return RCCE_SUCCESS;
  });
}

int RCCE_wait_power(RCCE_REQUEST* request) {
  return call_checked("RCCE_wait_power", RCCE_DEBUG_RPC, {}, [&](ue& self) {
    if (!is_master(self)) return RCCE_SUCCESS;
    if (!self.power_pending) return RCCE_ERROR_NO_ACTIVE_RPC_REQUEST;
    if (request->active != 1 || request->ticket != self.power_requests) {
      return RCCE_ERROR_STALE_RPC_REQUEST;
    }
    self.wait_power();
    self.power_pending = false;
    request->active = 0;
    return RCCE_SUCCESS;
  });
}

int RCCE_set_frequency_divider(int fdiv, int* new_fdiv) {
  return call_checked(
      "RCCE_set_frequency_divider", RCCE_DEBUG_RPC, {"divider", fdiv}, [&](ue& self) {
        const int divider = divider_for(self, fdiv);
        const int error = is_master(self) ? self.set_divider(divider) : self.check_divider(divider);
        if (error == RCCE_SUCCESS) *new_fdiv = divider;
        return error;
      });
}

}  // extern "C"

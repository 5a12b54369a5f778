// SPDX-License-Identifier: Apache-2.0
// Error codes, their messages, and the printing of them.
#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "call.hpp"

namespace creek::rcce {

namespace {

// Indexed by code from RCCE_ERROR_BASE + 1 on. With its end none exceeds RCCE_MAX_ERROR_STRING.
constexpr std::array<std::string_view, 27> messages{
    "Invalid target buffer",
    "Invalid source buffer",
    "Invalid ID",
    "Invalid message length",
    "Invalid flag",
    "Invalid number of UEs",
    "Overlapping data",
    "Invalid memory alignment",
    "Invalid debug flag",
    "Flag is not in the communication buffer",
    "Invalid flag status",
    "Flag was not allocated",
    "Undefined value",
    "Invalid error code",
    "No memory for remote procedure calls",
    "Remote procedure call failed",
    "Power request while another is active",
    "Invalid frequency divider",
    "Frequency too high for the voltage",
    "No power request is active",
    "Power request is stale",
    "Communicator is undefined",
    "Invalid reduction operator",
    "Invalid data type",
    "Memory could not be allocated",
    "Communicator is already initialized",
    "Core is not in the host file",
};
static_assert([] {
  for (const std::string_view text : messages) {
    if (text.size() >= RCCE_MAX_ERROR_STRING) return false;
  }
  return true;
}());

std::string_view message_of(int error) {
  if (error == RCCE_SUCCESS) return "Success";
  const int number = error - RCCE_ERROR_BASE;
  if (number < 1 || number > static_cast<int>(messages.size())) return {};
  return messages[static_cast<std::size_t>(number - 1)];
}

/// Returns a bit for each kind of RCCE_debug_set, or 0 for none.
unsigned bits_of(int kind) {
  switch (kind) {
    case RCCE_DEBUG_SYNCH:
      return 1;
    case RCCE_DEBUG_COMM:
      return 2;
    case RCCE_DEBUG_RPC:
      return 4;
    case RCCE_DEBUG_DEBUG:
      return 8;
    case RCCE_DEBUG_ALL:
      return 15;
    default:
      return 0;
  }
}

}  // namespace

int report_error(ue& self, int kind, int error) {
  set_current(&self);  // the UE that prints: others may have run meanwhile
  // iRCCE's states are below zero and are no errors.
  if (error > 0 && (self.debug & bits_of(kind)) != 0) {
    std::fprintf(stderr, "RCCE error %d on UE %d in %s: %s\n", error, self.rank,
                 self.activity.call != nullptr ? self.activity.call : "its own code",
                 std::string(message_of(error)).c_str());
  }
  return error;
}

}  // namespace creek::rcce

using namespace creek::rcce;

extern "C" {

int RCCE_error_string(int error, char* text, int* length) {
  return call_checked("RCCE_error_string", RCCE_DEBUG_DEBUG, {}, [&](ue&) {
    const std::string_view message = message_of(error);
    const bool known = !message.empty();
    const std::string_view shown = known ? message : messages[13];
    std::memcpy(text, shown.data(), shown.size());
    text[shown.size()] = '\0';
    *length = static_cast<int>(shown.size());
    return known ? RCCE_SUCCESS : RCCE_ERROR_INVALID_ERROR_CODE;
  });
}

int RCCE_debug_set(int kind) {
  return call_checked("RCCE_debug_set", RCCE_DEBUG_DEBUG, {}, [&](ue& self) {
    self.debug |= bits_of(kind);
    return bits_of(kind) != 0 ? RCCE_SUCCESS : RCCE_ERROR_DEBUG_FLAG;
  });
}

int RCCE_debug_unset(int kind) {
  return call_checked("RCCE_debug_unset", RCCE_DEBUG_DEBUG, {}, [&](ue& self) {
    self.debug &= ~bits_of(kind);
    return bits_of(kind) != 0 ? RCCE_SUCCESS : RCCE_ERROR_DEBUG_FLAG;
  });
}

}  // extern "C"

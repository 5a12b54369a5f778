// SPDX-License-Identifier: Apache-2.0
// Stub of NVIDIA's management library: two GPUs, whose counters a test sets.
namespace {

unsigned long long millijoules[2] = {5'000'000, 7'000'000};
int failure = 0;
int sessions = 0;

}  // namespace

extern "C" {

void stub_set(unsigned gpu, unsigned long long value) {
  millijoules[gpu] = value;
}
void stub_fail(int status) {
  failure = status;
}
int stub_sessions() {
  return sessions;
}

int nvmlInit_v2() {
  ++sessions;
  return 0;
}
int nvmlShutdown() {
  --sessions;
  return 0;
}
const char* nvmlErrorString(int status) {
  return status == 3 ? "Not Supported" : "Unknown Error";
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = &millijoules[index];
  return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* energy) {
  *energy = *static_cast<unsigned long long*>(device);
  return failure;
}
}

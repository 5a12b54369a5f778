// SPDX-License-Identifier: Apache-2.0
// Energy of NVIDIA GPUs by the driver's management library, which is loaded on demand: creek is
// built without it. Source: [NVML], nvmlDeviceGetTotalEnergyConsumption: millijoules since the
// driver was loaded, on Volta and newer.
#include <fmt/format.h>

#include <creek/core/shared_library.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "energy_counters.hpp"

namespace creek::power::detail {

namespace {

using nvml_device = void*;

/// The functions used, by NVML's stable binary interface. Results are 0 for success.
struct nvml_library {
  shared_library file{"libnvidia-ml.so.1"};
  int (*init)() = file["nvmlInit_v2"];
  int (*shutdown)() = file["nvmlShutdown"];
  const char* (*error_text)(int) = file["nvmlErrorString"];
  int (*count)(unsigned*) = file["nvmlDeviceGetCount_v2"];
  int (*device)(unsigned, nvml_device*) = file["nvmlDeviceGetHandleByIndex_v2"];
  int (*energy)(nvml_device, unsigned long long*) = file["nvmlDeviceGetTotalEnergyConsumption"];
};

/// The library stays loaded: its threads may outlive a session.
class nvml_session {
 public:
  explicit nvml_session(const nvml_library& nvml) : nvml_(nvml), status_(nvml.init()) {}
  nvml_session(const nvml_session&) = delete;
  nvml_session& operator=(const nvml_session&) = delete;
  ~nvml_session() {
    if (status_ == 0) nvml_.shutdown();
  }
  [[nodiscard]] const nvml_library& call() const noexcept { return nvml_; }
  [[nodiscard]] int status() const noexcept { return status_; }
  [[nodiscard]] std::string why(const char* function, int status) const {
    return fmt::format("NVML: {}: {}", function, nvml_.error_text(status));
  }

 private:
  nvml_library nvml_;
  int status_;
};

class nvml_counters final : public energy_counters {
 public:
  explicit nvml_counters(std::unique_ptr<nvml_session> session) : session_(std::move(session)) {}

  std::span<const energy_domain> domains() const noexcept override { return domains_; }

  /// Returns why a device has no counter.
  std::string add(unsigned number) {
    nvml_device device = nullptr;
    unsigned long long millijoules = 0;
    if (const int status = session_->call().device(number, &device); status != 0) {
      return session_->why("nvmlDeviceGetHandleByIndex", status);
    }
    if (const int status = session_->call().energy(device, &millijoules); status != 0) {
      return session_->why("nvmlDeviceGetTotalEnergyConsumption", status);
    }
    devices_.push_back({device, millijoules});
    domains_.push_back({fmt::format("gpu-{}", number), true});
    return {};
  }

  std::string sample(sampled_domains, std::span<units::joules> joules) override {
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      unsigned long long now = 0;
      const int status = session_->call().energy(devices_[i].handle, &now);
      if (status != 0) return session_->why("nvmlDeviceGetTotalEnergyConsumption", status);
      if (now < devices_[i].last) {
        return fmt::format("NVML: the counter of {} went backwards, from {} to {} mJ",
                           domains_[i].name, devices_[i].last, now);
      }
      devices_[i].last = now;
      joules[i] = units::joules{1e-3 * static_cast<double>(now)};
    }
    return {};
  }

 private:
  struct gpu {
    nvml_device handle;
    unsigned long long last;
  };

  std::unique_ptr<nvml_session> session_;
  std::vector<energy_domain> domains_;
  std::vector<gpu> devices_;
};

}  // namespace

opened_counters open_nvml() {
  const nvml_library nvml;
  if (!nvml.file) return {nullptr, "libnvidia-ml.so.1, of NVIDIA's driver, is not there"};
  if (!nvml.file.complete()) {
    return {nullptr, "libnvidia-ml.so.1 has no nvmlDeviceGetTotalEnergyConsumption: update it"};
  }
  auto session = std::make_unique<nvml_session>(nvml);
  if (session->status() != 0) return {nullptr, session->why("nvmlInit", session->status())};
  unsigned devices = 0;
  if (const int status = nvml.count(&devices); status != 0) {
    return {nullptr, session->why("nvmlDeviceGetCount", status)};
  }
  if (devices == 0) return {nullptr, "NVML shows no GPU"};
  auto counters = std::make_unique<nvml_counters>(std::move(session));
  for (unsigned i = 0; i < devices; ++i) {
    if (std::string problem = counters->add(i); !problem.empty()) return {nullptr, problem};
  }
  return {std::move(counters), {}};
}

}  // namespace creek::power::detail

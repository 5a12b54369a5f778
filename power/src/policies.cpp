// SPDX-License-Identifier: Apache-2.0
#include <creek/power/policies.hpp>

#include <array>
#include <string>

#include <creek/core/error.hpp>

namespace creek::power {

namespace {

/// Waits as `How` says and leaves the clocks alone.
template <idle_policy How>
class waiting final : public power_policy {
 public:
  explicit waiting(std::string_view name) : name_(name) {}
  std::string_view name() const noexcept override { return name_; }
  void begin(const power_site&) override {}
  idle_plan worker_idle(unsigned) noexcept override { return {How}; }

 private:
  std::string_view name_;
};

using maker = std::shared_ptr<power_policy> (*)(std::string_view, const policy_options&);

struct known_policy {
  std::string_view name;
  maker make;
};

constexpr std::array known{
    known_policy{"polling",
                 [](std::string_view name, const policy_options&) -> std::shared_ptr<power_policy> {
                   return std::make_shared<waiting<idle_policy::poll>>(name);
                 }},
    known_policy{"blocking",
                 [](std::string_view name, const policy_options&) -> std::shared_ptr<power_policy> {
                   return std::make_shared<waiting<idle_policy::block>>(name);
                 }},
};

constexpr auto names = [] {
  std::array<std::string_view, known.size()> made;
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = known[i].name;
  return made;
}();

}  // namespace

std::span<const std::string_view> policy_names() noexcept {
  return names;
}

std::shared_ptr<power_policy> make_policy(std::string_view name, const policy_options& options) {
  for (const known_policy& each : known) {
    if (each.name == name) return each.make(each.name, options);
  }
  std::string valid;
  for (const std::string_view each : names) {
    valid += (valid.empty() ? "" : ", ") + std::string(each);
  }
  throw usage_error("unknown power policy '" + std::string(name) + "'; valid: " + valid);
}

}  // namespace creek::power

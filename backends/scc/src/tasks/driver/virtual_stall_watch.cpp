// SPDX-License-Identifier: Apache-2.0
#include "virtual_stall_watch.hpp"

namespace creek::scc_backend {

namespace {

class virtual_stall_watch final : public ext::stall_watch {
 public:
  virtual_stall_watch(const scheduler_options& options, engine& simulation)
      : stall_watch(options, options.workers), simulation_(&simulation) {}
  void look() noexcept {
    const std::size_t core = simulation_->running().index();
    if (core < workers()) (void)look_at(static_cast<unsigned>(core));
  }

 private:
  std::chrono::nanoseconds now() const noexcept override {
    return std::chrono::nanoseconds{simulation_->now().femtoseconds / 1'000'000 + 1};
  }
  engine* simulation_;
};

}  // namespace

std::unique_ptr<ext::stall_watch> make_stall_watch(const scheduler_options& options,
                                                   machine& chip) {
  if (options.stall_limit == options.stall_limit.zero()) return nullptr;
  auto watch = std::make_unique<virtual_stall_watch>(options, chip.simulation());
  chip.computing().when_time_passes(
      [](void* self) { static_cast<virtual_stall_watch*>(self)->look(); }, watch.get());
  return watch;
}

}  // namespace creek::scc_backend

// SPDX-License-Identifier: Apache-2.0
#include "core_fibers.hpp"

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include <creek/core/error.hpp>

namespace creek::scc_backend {

core_fibers::core_fibers(int cores, std::size_t stack_bytes, std::function<void()> main)
    : stack_bytes_((stack_bytes + 4095) / 4096 * 4096),
      fibers_(std::make_unique<fiber[]>(static_cast<std::size_t>(cores))),
      main_(std::move(main)) {
  for (; count_ < cores; ++count_) {
    std::byte* low = map_guarded(stack_bytes_);
    if (low == nullptr) {
      const int reason = errno;
      unmap();
      throw error(std::error_code(reason, std::generic_category()),
                  "simulated chip: cannot map stacks for " + std::to_string(cores) + " cores");
    }
    fiber& made = fibers_[count_];
    made.home = this;
    made.on = &made;
    prepare_context(made, low, stack_bytes_, [](switch_context& self, switch_context&) {
      static_cast<fiber&>(self).home->main_();
    });
  }
}

core_fibers::~core_fibers() {
  unmap();
}

void core_fibers::unmap() noexcept {
  for (int i = 0; i < count_; ++i) {
    std::byte* low = fibers_[i].stack_low;
    release_context(fibers_[i]);
    unmap_guarded(low, stack_bytes_);
  }
}

void core_fibers::enter(int core) {
  adopt_thread_stack(native_);
  running_ = core;
  switch_stacks(native_, fibers_[core]);
}

void core_fibers::switch_to(int core) {
  switch_context& from = stack();
  running_ = core;
  ++switches_;
  void* kept = thread_state_ != nullptr ? thread_state_->save() : nullptr;
  switch_stacks(from, stack());
  if (thread_state_ != nullptr) thread_state_->restore(kept);
}

void core_fibers::continue_on(switch_context& other) noexcept {
  switch_context& from = stack();
  fibers_[running_].on = &other;
  switch_stacks(from, other);
}

}  // namespace creek::scc_backend

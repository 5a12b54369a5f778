// SPDX-License-Identifier: Apache-2.0
// A flag: one word in the memory of each core, which any core sets and its owner waits for.
#pragma once

#include <creek/core/memory.hpp>

namespace creek {

/// The handle of one core on a flag. Needs a line at `place` in every core's memory, zero at first.
template <memory_policy Memory>
class flag {
 public:
  static constexpr std::size_t bytes_needed = Memory::line_bytes;

  flag(Memory& memory, std::size_t place) noexcept : memory_{&memory}, place_{place} {}

  /// Sets the flag of `core`. A core that sees it also sees what this one wrote and flushed before.
  void write(core_id core, word value) { memory_->signal(at(core), value); }
  [[nodiscard]] word read(core_id core) { return memory_->load(at(core)); }
  /// Waits until this core's own flag has the value.
  void wait(word value) {
    memory_->wait_until(at(memory_->self()), [=](word seen) { return seen == value; });
  }

 private:
  [[nodiscard]] mpm_ptr<word> at(core_id core) const noexcept {
    return memory_->at(core, place_).template as<word>();
  }

  Memory* memory_;
  std::size_t place_;
};

}  // namespace creek

// SPDX-License-Identifier: Apache-2.0
#include <creek/scc/private_memory.hpp>

#include "chip/noted_caller.hpp"

namespace creek::scc_backend {

void private_memory::cached_read(void* to, mpm_ptr<const std::byte> from, std::size_t size,
                                 std::size_t working_set) const {
  const core_operation begun = enter();
  if (working_set > on().description().l2_bytes) {
    note_caller(*begun);
    if (size > 0)
      on().memory().lines().read(to, on().memory().bytes().offset_of(from.address(), size), size);
    return;
  }
  begun->memory().bulk().private_read(size, working_set);
  on().memory().lines().copy_out(to, on().memory().bytes().offset_of(from.address(), size), size);
}
void private_memory::write_around(mpm_ptr<std::byte> to, const void* from, std::size_t size) const {
  const core_operation begun = enter();
  note_caller(*begun);
  if (size > 0)
    on().memory().lines().write_around(on().memory().bytes().offset_of(to.address(), size), from,
                                       size);
}
void private_memory::private_read(std::size_t bytes, std::size_t working_set) const {
  enter()->memory().bulk().private_read(bytes, working_set);
}
void private_memory::private_write(std::size_t bytes, std::size_t working_set,
                                   write_mode mode) const {
  enter()->memory().bulk().private_write(bytes, working_set, mode);
}
void private_memory::operand_read(std::size_t bytes, std::size_t working_set) const {
  if (bytes > 0 && working_set > on().description().l1_bytes) private_read(bytes, working_set);
}
void private_memory::operand_rewritten(std::size_t bytes, std::size_t working_set) const {
  if (working_set > on().description().l2_bytes) {
    private_write_lines(bytes);
  } else if (working_set > on().description().l1_bytes) {
    private_write(bytes, working_set);
  }
}
void private_memory::flush_l2(bool by_aliases) const {
  const chip_costs& costs = on().description().costs;
  enter()->computing().charge(by_aliases ? costs.l2_flush_by_aliases : costs.l2_flush);
}

}  // namespace creek::scc_backend

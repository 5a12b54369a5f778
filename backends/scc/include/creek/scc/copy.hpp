// SPDX-License-Identifier: Apache-2.0
// Ways to copy off-chip memory, and cores that copy for others. Source: [van Tol 2011].
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <creek/core/memory.hpp>
#include <creek/core/protocols/test_and_set_lock.hpp>
#include <creek/scc/memory.hpp>

namespace creek::scc_backend {

enum class copy_method : std::uint8_t {
  plain,        ///< cached reads; writes miss and go out word by word
  mpbt_target,  ///< cached reads; writes collected into lines
  mpbt_both,    ///< reads past L2 too, so equally fast wherever the source was
  lut_remap,    ///< as mpbt_both, after mapping source and target into this core's table
  copy_cores,   ///< by a copy_service
};
[[nodiscard]] const char* to_string(copy_method how) noexcept;

/// Copies on the calling core and sends the content of the write-combine buffer; another core that
/// invalidates sees the copy. The source is read from memory: its owner must have flushed it.
/// `working_set`: that of a program that keeps coming back to the source, whose cached reads then
/// come from the caches, as private_memory::private_read() says. Throws usage_error for copy_cores,
/// or if a range is no memory of the chip.
void copy(const memory& on, mpm_ptr<std::byte> to, mpm_ptr<const std::byte> from, std::size_t size,
          copy_method how, std::size_t working_set = cold);

/// Copies that dedicated cores make while the asking core goes on [van Tol 2011]. Every core that
/// takes part makes one, with equal arguments. A server does one copy at a time. The service uses
/// the server's test-and-set register and the lines given here, in its memory and in the
/// clients'.
class copy_service {
 public:
  /// Bytes of message-passing memory that it needs on each core.
  static constexpr std::size_t bytes_needed = 2 * memory::line_bytes;

  /// Makes a core's end over memory that is zero. Throws usage_error if there are no servers.
  copy_service(const memory& on, std::size_t mpb_offset, std::vector<core_id> servers);

  /// Makes copies, on a server, until each of `clients` has called leave().
  void serve(int clients);

  /// Asks servers[server]; waits until it has time. A core has one copy under way at a time.
  void begin(mpm_ptr<std::byte> to, mpm_ptr<const std::byte> from, std::size_t size,
             std::size_t server = 0);
  /// Waits until that copy is complete.
  void wait();
  /// Ends the asking of this core.
  void leave();

 private:
  struct order {
    std::byte* to;
    const std::byte* from;
    std::uint64_t size;
    std::uint32_t client;
    std::uint32_t leaves;
  };
  static_assert(sizeof(order) == memory::line_bytes);
  void ask(const order& what, std::size_t server);
  mpm_ptr<word> bell(core_id of) const { return on_.at(of, offset_).as<word>(); }
  mpm_ptr<std::byte> slot(core_id of) const { return on_.at(of, offset_ + memory::line_bytes); }

  memory on_;
  std::size_t offset_;
  std::vector<core_id> servers_;
  core_id asked_;
  bool under_way_ = false;
};

}  // namespace creek::scc_backend

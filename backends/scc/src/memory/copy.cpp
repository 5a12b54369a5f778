// SPDX-License-Identifier: Apache-2.0
#include <creek/scc/chip.hpp>
#include <creek/scc/copy.hpp>
#include <creek/scc/lookup_table.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <creek/core/error.hpp>

namespace creek::scc_backend {

namespace {

/// Bytes that one step moves: few compared with the caches, so that reads and writes alternate as
/// they do in a loop over lines.
constexpr std::size_t piece = 1024;

/// Two entries of the look-up table that map nothing at the start: lut.hpp.
constexpr int source_entry = 0x7E;
constexpr int target_entry = 0x7F;

/// Maps the blocks that a range lies in, one after the other, as a core that copies through its
/// table does.
void map_range(const memory& on, int entry, const std::byte* first, std::size_t size) {
  std::size_t mapped = 0;
  while (mapped < size) {
    const auto place = lookup_table(on).location(mpm_ptr{first + mapped});
    lookup_table(on).set_entry(on.self(), entry, place.block);
    mapped += lut_block_bytes - place.offset;
  }
  lookup_table(on).set_entry(on.self(), entry, {});
}

}  // namespace

const char* to_string(copy_method how) noexcept {
  switch (how) {
    case copy_method::mpbt_target:
      return "mpbt-target";
    case copy_method::mpbt_both:
      return "mpbt-both";
    case copy_method::lut_remap:
      return "lut-remap";
    case copy_method::copy_cores:
      return "copy-cores";
    case copy_method::plain:
      break;
  }
  return "plain";
}

void copy(const memory& on, mpm_ptr<std::byte> to, mpm_ptr<const std::byte> from, std::size_t size,
          copy_method how, std::size_t working_set) {
  if (how == copy_method::copy_cores) {
    throw usage_error("copy: copy_cores needs a copy_service, which names the cores");
  }
  if (size == 0) return;
  // The whole ranges are checked before a part has been copied.
  lookup_table(on).require_memory(from, size);
  lookup_table(on).require_memory(to, size);
  if (how == copy_method::lut_remap) {
    map_range(on, source_entry, from.address(), size);
    map_range(on, target_entry, to.address(), size);
  }
  const bool past_l2 = how == copy_method::mpbt_both || how == copy_method::lut_remap;
  std::array<std::byte, piece> step{};
  while (size > 0) {
    const std::size_t part = std::min(size, piece);
    if (past_l2) {
      on.read(step.data(), from, part);
    } else {
      on.cached_read(step.data(), from, part, working_set);
    }
    if (how == copy_method::plain) {
      on.write_around(to, step.data(), part);
    } else {
      on.write(to, step.data(), part);
    }
    from = from + static_cast<std::ptrdiff_t>(part);
    to = to + static_cast<std::ptrdiff_t>(part);
    size -= part;
  }
  on.flush();
}

copy_service::copy_service(const memory& on, std::size_t mpb_offset, std::vector<core_id> servers)
    : on_{on}, offset_{mpb_offset}, servers_{std::move(servers)} {
  if (servers_.empty()) throw usage_error("copy_service: no cores to copy");
}

void copy_service::serve(int clients) {
  while (clients > 0) {
    on_.wait_until(bell(on_.self()), [](word rung) { return rung != 0; });
    on_.invalidate();
    order what{};
    on_.read(&what, slot(on_.self()), sizeof what);
    if (what.leaves != 0) {
      --clients;
    } else {
      copy(on_, mpm_ptr{what.to}, mpm_ptr{what.from}, what.size, copy_method::mpbt_both);
    }
    on_.store(bell(on_.self()), 0);
    on_.store(bell(core_id{static_cast<int>(what.client)}), 1);
  }
}

void copy_service::ask(const order& what, std::size_t server) {
  if (under_way_) throw usage_error("copy_service: this core already has a copy in progress");
  if (server >= servers_.size()) {
    throw usage_error("copy_service: there is no server " + std::to_string(server) + " among " +
                      std::to_string(servers_.size()));
  }
  asked_ = servers_[server];
  test_and_set_lock<memory>(on_, asked_).lock();
  on_.write(slot(asked_), &what, sizeof what);
  on_.flush();
  on_.store(bell(asked_), 1);
  under_way_ = true;
}

void copy_service::begin(mpm_ptr<std::byte> to, mpm_ptr<const std::byte> from, std::size_t size,
                         std::size_t server) {
  lookup_table(on_).require_memory(from, size);
  lookup_table(on_).require_memory(to, size);
  ask({to.address(), from.address(), size, static_cast<std::uint32_t>(on_.self().value), 0},
      server);
}

void copy_service::wait() {
  if (!under_way_) return;
  const auto done = bell(on_.self());
  on_.wait_until(done, [](word rung) { return rung != 0; });
  on_.store(done, 0);
  on_.clear(asked_);
  under_way_ = false;
}

void copy_service::leave() {
  wait();
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    ask({nullptr, nullptr, 0, static_cast<std::uint32_t>(on_.self().value), 1}, i);
    wait();
  }
}

}  // namespace creek::scc_backend

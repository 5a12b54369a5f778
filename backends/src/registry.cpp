// SPDX-License-Identifier: Apache-2.0
// The table of backends in this build: the only place that names them all.
#include <algorithm>
#include <array>
#include <utility>

#include <creek/core/error.hpp>
#include <creek/host.hpp>
#include <creek/host/cpu_limit.hpp>
#include <creek/scc.hpp>
#include <creek/tasking/detail/backend_registry.hpp>
#ifdef CREEK_HAS_TBB
#include <creek/tbb.hpp>
#endif

namespace creek::detail {

namespace {

std::unique_ptr<backend> make_host(const scheduler_options& options) {
  return host(options).make();
}

std::unique_ptr<backend> make_scc(const scheduler_options& options) {
  return scc(options).make();
}

std::unique_ptr<backend> make_tbb([[maybe_unused]] const scheduler_options& options) {
#ifdef CREEK_HAS_TBB
  // By name, every backend has the same default.
  scheduler_options chosen = options;
  if (chosen.workers == 0) {
    chosen.workers = std::min(host_backend::read_cpu_limit().workers, tbb_backend::max_workers);
  }
  return tbb_backend(std::move(chosen)).make();
#else
  throw usage_error(
      "backend 'tbb' is not in this build: install oneTBB (libtbb-dev) and configure again with "
      "CREEK_WITH_TBB=ON");
#endif
}

#ifdef CREEK_HAS_TBB
constexpr bool has_tbb = true;
#else
constexpr bool has_tbb = false;
#endif

constexpr std::array<backend_entry, 3> table{{
    {"host", &make_host, true},
    {"scc", &make_scc, true},
    {"tbb", &make_tbb, has_tbb},
}};

}  // namespace

std::span<const backend_entry> built_in_backends() noexcept {
  return table;
}

}  // namespace creek::detail

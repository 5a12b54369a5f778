// SPDX-License-Identifier: Apache-2.0
// IPS4o's parallel sort, with its threads made before the timed part.
#include <functional>
#include <ips4o.hpp>

#include "config.hpp"

namespace bench::parallel_sort {
namespace {

sample measure(const settings& s) {
  static ips4o::StdThreadPool threads(static_cast<int>(s.workers));
  return run(s, [](auto& data) {
    ips4o::parallel::sort(data.begin(), data.end(), std::less<>{}, threads);
  });
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::parallel_sort

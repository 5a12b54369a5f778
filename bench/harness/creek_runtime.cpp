// SPDX-License-Identifier: Apache-2.0
// The creek peer: the only one that reads --scheduler, --deque and --idle.
#include "creek_runtime.hpp"

namespace bench {
namespace {

creek::scheduler_options options_of(const settings& s) {
  creek::scheduler_options options;
  options.workers = s.workers;
  if (!s.scheduler.empty()) options.scheduler = creek::parse_scheduler(s.scheduler);
  if (!s.deque.empty()) options.deque = creek::parse_deque(s.deque);
  if (!s.idle.empty()) options.idle = creek::parse_idle(s.idle);
  return options;
}

}  // namespace

creek::runtime new_runtime(const settings& s) {
  return creek::runtime(options_of(s));
}

creek::runtime& kept_runtime(const settings& s) {
  static creek::runtime kept = new_runtime(s);
  return kept;
}

std::string peer_name() {
  return "creek";
}
std::string peer_version() {
  return "creek " BENCH_CREEK_VERSION;
}
void prepare_environment(const settings&, char**) {}

}  // namespace bench

// SPDX-License-Identifier: Apache-2.0
#include <creek/power/say_once.hpp>

#include <cstdio>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace creek::power {

namespace {

struct speech {
  std::mutex guard;
  std::set<std::string, std::less<>> said;
  std::function<void(std::string_view)> reader;
};
/// Never destroyed: runtimes may be created while static objects are destroyed.
speech& of_process() {
  static auto& one = *new speech;
  return one;
}

}  // namespace

void say_to(std::function<void(std::string_view)> reader) {
  const std::lock_guard lock(of_process().guard);
  of_process().reader = std::move(reader);
}

void say_once(std::string_view line) {
  speech& all = of_process();
  const std::lock_guard lock(all.guard);
  if (!all.said.emplace(line).second) return;
  if (all.reader) return all.reader(line);
  const std::string text = "creek: " + std::string(line) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);  // one write, not mixed with other lines
}

}  // namespace creek::power

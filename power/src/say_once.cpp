// SPDX-License-Identifier: Apache-2.0
#include <creek/power/say_once.hpp>

#include <cstdio>
#include <functional>
#include <mutex>
#include <set>
#include <string>

namespace creek::power {

void say_once(std::string_view line) {
  static std::mutex guard;
  // Never destroyed: runtimes may be created while static objects are destroyed.
  static auto& said = *new std::set<std::string, std::less<>>;
  const std::lock_guard lock(guard);
  if (!said.emplace(line).second) return;
  const std::string text = "creek: " + std::string(line) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);  // one write, not mixed with other lines
}

}  // namespace creek::power

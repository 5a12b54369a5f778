// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include <creek/mapreduce.hpp>

int main() {
  using namespace creek::mapreduce;
  const std::string_view text = "the quick fox and the slow fox and the end";
  return run(word_count{}, text, {.top = 3}).distinct == 6 ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
// Stands for a peer that cannot be built here: lists nothing but why.
#include <cstdio>

int main() {
  std::puts(R"({"peer": ")" BENCH_PEER_NAME R"(", "missing": ")" BENCH_PEER_MISSING R"("})");
  return 0;
}

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds into build/, as the suite calls it: the argument names the compiler by the suite's presets.
set -e
cd "$(dirname "$0")"
case ${1:-clang-linux-release} in
  clang-*) compiler=clang++ ;;
  gcc-*) compiler=g++ ;;
  *) echo "usage: $0 [clang-linux-release|gcc-linux-release]" >&2 && exit 2 ;;
esac
cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="${CXX:-$compiler}"
cmake --build build --parallel

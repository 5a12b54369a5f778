#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: compile.sh COMPILER PREFIX LIBDIR FOLDER SOURCE SANITIZER...
# Compiles SOURCE with each SANITIZER, with pkg-config's flags for the creek that is installed under PREFIX, to
# FOLDER/NAME_SANITIZER.
set -eu
compiler=$1 libdir=$2/$3 folder=$4 source=$5
shift 5
mkdir -p "$folder"
PKG_CONFIG_PATH=$libdir/pkgconfig
export PKG_CONFIG_PATH
for sanitizer in "$@"; do
  program=$folder/$(basename "$source" .cpp)_$sanitizer
  # shellcheck disable=SC2046,SC2086 # the flags and the compiler are words
  $compiler -std=c++20 -O1 -g1 -fsanitize=$sanitizer -fno-sanitize-recover=all \
    $(pkg-config --cflags creek) -c "$source" -o "$program.o"
  # shellcheck disable=SC2046,SC2086
  $compiler -fsanitize=$sanitizer "$program.o" -o "$program" \
    $(pkg-config --libs --static creek) -Wl,-rpath,"$libdir"
done

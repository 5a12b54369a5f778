#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: pkg_config.sh COMPILER SOURCE PREFIX LIBDIR FOLDER
# Compiles and runs SOURCE in FOLDER with nothing but what pkg-config says of the creek under
# PREFIX, as a Makefile would: all of creek and the component tasking, as they are linked by default and with
# --static. The tree is moved first: no .pc file may depend on where it was installed.
set -eu
compiler=$1 source=$2 prefix=$3 libdir=$4 folder=$5
rm -rf "$folder"
mkdir -p "$folder"
cp -R "$prefix" "$folder/moved"
libdir=$folder/moved/$libdir
PKG_CONFIG_PATH=$libdir/pkgconfig
export PKG_CONFIG_PATH

for module in creek creek-tasking; do
  for static in "" --static; do
    # shellcheck disable=SC2046,SC2086 # the flags are words
    $compiler -std=c++20 -O2 "$source" -o "$folder/consumer" \
      $(pkg-config --cflags $module) $(pkg-config --libs $static $module) -Wl,-rpath,"$libdir"
    "$folder/consumer"
  done
done
if pkg-config --cflags creek-tasking | grep -E -e '-(D|W|O|f)'; then
  echo "creek-tasking hands its own compile options on" >&2
  exit 1
fi

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: pkg_config.sh COMPILER SOURCE PREFIX LIBDIR FOLDER
# Compiles and runs SOURCE in FOLDER with nothing but what pkg-config says of the creek under
# PREFIX, as a Makefile would: as it is linked by default, and with --static. The tree is moved
# first: creek.pc may not depend on where it was installed.
set -eu
compiler=$1 source=$2 prefix=$3 libdir=$4 folder=$5
rm -rf "$folder"
mkdir -p "$folder"
cp -R "$prefix" "$folder/moved"
libdir=$folder/moved/$libdir
PKG_CONFIG_PATH=$libdir/pkgconfig
export PKG_CONFIG_PATH

for static in "" --static; do
  # shellcheck disable=SC2046,SC2086 # the flags are words
  $compiler -std=c++20 "$source" -o "$folder/consumer" \
    $(pkg-config --cflags creek) $(pkg-config --libs $static creek) -Wl,-rpath,"$libdir"
  "$folder/consumer"
done

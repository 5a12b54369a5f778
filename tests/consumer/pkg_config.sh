#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: pkg_config.sh COMPILER SOURCE COMPONENTS PREFIX LIBDIR FOLDER
# Checks the .pc files of the creek under PREFIX, and compiles and runs programs in FOLDER with the flags that
# pkg-config prints, as a Makefile would: SOURCE with all of creek, COMPONENTS/X.cpp with each installed component X.
# Static libraries are linked with `pkg-config --static`, shared ones without. The tree is moved first: no .pc file
# may depend on the prefix.
set -eu
compiler=$1 source=$2 components=$3 prefix=$4 libdir=$5 folder=$6
rm -rf "$folder"
mkdir -p "$folder"
cp -R "$prefix" "$folder/moved"
libdir=$folder/moved/$libdir
PKG_CONFIG_PATH=$libdir/pkgconfig
export PKG_CONFIG_PATH
static=--static
[ -e "$libdir/libcreek_core.a" ] || static=

fail() {
  echo "$*" >&2
  exit 1
}

# check_module MODULE: it passes no compile options on, its public fields name libraries of creek only, and it has
# Requires.private exactly if its library is static.
check_module() {
  module=$1
  if pkg-config --cflags $static "$module" | grep -E -e '(^| )-[DUWOf]'; then
    fail "$module: --cflags has more than include paths"
  fi
  if pkg-config --libs "$module" | tr ' ' '\n' | grep -E -e '^-l' | grep -v -e '^-lcreek_'; then
    fail "$module: --libs without --static names libraries of others"
  fi
  if pkg-config --libs "$module" | grep -e --gc-sections; then
    fail "$module: --libs without --static has --gc-sections"
  fi
  private=$(pkg-config --print-requires-private "$module")
  if [ "$module" = creek ] || [ -z "$static" ]; then
    [ -z "$private" ] || fail "$module has Requires.private: $private"
  else
    [ -n "$private" ] || fail "$module has no Requires.private"
  fi
}

# check_program MODULE SOURCE: links with both defaults that distributions have, --as-needed and --no-as-needed.
check_program() {
  module=$1
  object=$folder/$module.o
  # shellcheck disable=SC2046 # the flags are words
  $compiler -std=c++20 -c "$2" -o "$object" $(pkg-config --cflags "$module")
  for needed in -Wl,--no-as-needed -Wl,--as-needed; do
    # shellcheck disable=SC2046,SC2086
    $compiler $needed "$object" -o "$folder/$module" $(pkg-config --libs $static "$module") -Wl,-rpath,"$libdir"
    "$folder/$module"
  done
}

check_module creek
check_program creek "$source"
for file in "$PKG_CONFIG_PATH"/creek-*.pc; do
  component=$(basename "$file" .pc | sed 's/^creek-//')
  check_module "creek-$component"
  check_program "creek-$component" "$components/$component.cpp"
done

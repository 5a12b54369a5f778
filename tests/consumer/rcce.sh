#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# rcce.sh PREFIX PROGRAM.c WORK: builds an RCCE program with the installed wrapper, runs it with the
# installed start tool on the simulated chip and on host threads.
set -eu
prefix=$1 program=$2 work=$3
mkdir -p "$work"
"$prefix/bin/creek-rcce-cc" -O2 -std=gnu99 "$program" -o "$work/program.so"
"$prefix/bin/rccerun" -nue 4 "$work/program.so"
"$prefix/bin/rccerun" -nue 4 --backend host "$work/program.so"

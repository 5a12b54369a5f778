#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# chroot.sh [PACKAGES]: installs the Debian packages in a fresh Debian 12 root, uses them there, and removes
# them (in_chroot.sh). Builds them in build/packages first, or takes those of the folder PACKAGES.
#
# The root is made by mmdebstrap from the mirror that apt uses on this machine, in a temporary folder that
# mmdebstrap removes in any case. Exit status: 0 passed, 1 failed, 77 this machine cannot run the test.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
source=$(dirname "$(dirname "$here")")
build=$source/build/packages
packages=${1:-$build/deb}

cannot_run() {
  printf 'chroot.sh: skipped: %s\n' "$*"
  exit 77
}

((EUID == 0)) || cannot_run 'making a Debian root needs root'
command -v mmdebstrap >/dev/null || cannot_run 'mmdebstrap is not installed'
for program in dpkg-shlibdeps file; do
  command -v $program >/dev/null || cannot_run "$program is not installed, which cpack needs (dpkg-dev, file)"
done
# Third-party repositories that apt uses do not belong in a fresh Debian.
mapfile -t repositories < <(apt-get indextargets \
  --format '$(ORIGIN)|$(CODENAME)|deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
  sed -n 's/^Debian|bookworm[^|]*|//p' | sort -u)
((${#repositories[@]})) || cannot_run 'apt knows no repository of Debian 12 (apt-get update)'

if (($# == 0)); then
  cd "$source"
  cmake --preset release -B "$build" -DBUILD_SHARED_LIBS=ON -DCMAKE_INSTALL_PREFIX=/usr -DCREEK_BUILD_TESTS=OFF \
    -DCREEK_BUILD_BENCH=OFF -DCMAKE_RUNTIME_OUTPUT_DIRECTORY="$build/bin"
  cmake --build "$build" -j "${CREEK_JOBS:-$(nproc)}"
  rm -rf "$packages"
  cpack --config "$build/CPackConfig.cmake" -G DEB -B "$packages"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/creek"
cp "$packages"/*.deb "$here/in_chroot.sh" "$source/tests/rcce/programs/ping_pong.c" "$work/creek"
# The settings that apt needs to use this machine's mirror.
apt-config dump --format '%F "%v";%n' Acquire::Check-Valid-Until Acquire::Check-Date Acquire::http::Proxy \
  Acquire::https::Proxy >"$work/apt.conf"

status=0
printf '%s\n' "${repositories[@]}" |
  mmdebstrap --variant=minbase --include=ca-certificates --format=null --aptopt="$work/apt.conf" \
    --customize-hook="touch '$work/made'" \
    --customize-hook="copy-in '$work/creek' /" \
    --customize-hook='chroot "$1" sh /creek/in_chroot.sh' \
    --customize-hook="touch '$work/passed'" bookworm - - || status=$?
[[ -e $work/made ]] || cannot_run "mmdebstrap could not make a root (status $status, see above)"
if [[ ! -e $work/passed ]] || ((status)); then
  echo "chroot.sh: FAILED: a step above failed (status $status)"
  exit 1
fi
echo 'chroot.sh: the packages were installed, used and removed cleanly'

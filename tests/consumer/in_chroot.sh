#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs inside the fresh Debian root that chroot.sh creates, with the packages in /creek: installs, uses and
# removes them. Stops with status 1 at the first step that fails.
set -eu
cd /creek
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 HOME=/tmp/home
mkdir -p "$HOME"
names=$(for file in *.deb; do dpkg-deb -f "$file" Package; done)

step() { printf '== %s\n' "$*"; }
fail() {
  printf 'in_chroot.sh: %s\n' "$*"
  exit 1
}
# expect WORDS COMMAND...: the output of the command has to contain the words.
expect() {
  words=$1
  shift
  said=$("$@" 2>&1) || fail "$*: exit status $?: $said"
  case $said in
    *"$words"*) ;;
    *) fail "$*: no '$words' in: $said" ;;
  esac
}
# Recommended packages are not installed: the dependencies have to suffice.
apt() {
  apt-get -q -y --no-install-recommends -o Dpkg::Use-Pty=0 -o Dpkg::Options::=--force-unsafe-io "$@"
}
# Lists every file with its type, mode and owner, except the state of apt and dpkg and the index of man-db.
snapshot() {
  find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /creek \
    -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /var/cache/apt -o -path /var/cache/man -o -path /var/log \) -prune \
    -o -printf '%p %y %m %u:%g %l\n' | sort
}

step 'install what the checks use'
apt install g++ make cmake pkg-config man-db bash-completion zsh fish
apt autoremove --purge
snapshot >/tmp/before

step 'install the packages'
apt-get -s install ./*.deb >/tmp/plan
grep -q '^Inst libhwloc15 ' /tmp/plan || fail 'libhwloc15 is neither needed nor recommended'
apt install ./*.deb
dpkg --audit
for name in $names; do
  dpkg-query --control-path "$name" md5sums | grep -q . || fail "$name: no checksums"
  changed=$(dpkg -V "$name") || fail "dpkg -V $name: $changed"
  [ -z "$changed" ] || fail "dpkg -V $name: $changed"
  [ -s "/usr/share/doc/$name/copyright" ] || fail "$name: no copyright file"
  if dpkg -L "$name" | grep -Ev '^/(\.|usr(/(bin|include|lib|share)(/.*)?)?)$'; then fail "$name: odd folders"; fi
done
ldconfig -p | grep -q libcreek_core.so || fail 'the cache of the loader does not list libcreek_core.so'

step 'run the tool'
expect 'creek 0.' creek --version
printf 'two one two\n' >/tmp/words.txt
expect '3 words, 2 different' creek wordcount /tmp/words.txt
expect 'backends ' creek info
creek info
creek solve -n 200
creek-rcce-cc -O2 -std=gnu99 ping_pong.c -o /tmp/ping_pong.so
rccerun -nue 4 /tmp/ping_pong.so

step 'programs that link LAPACK run on creek'
cat >/tmp/solve.c <<'END'
#include <dlfcn.h>
typedef void gesv(const int*, const int*, double*, const int*, int*, double*, const int*, int*);
typedef void gtsv(const int*, const int*, double*, double*, double*, double*, const int*, int*);
int main(void) {
  void* lapack = dlopen("liblapack.so.3", RTLD_NOW);
  if (lapack == 0) return 1;
  int n = 1, pivot, info;
  double a = 2, x = 4, none = 0;
  ((gesv*)dlsym(lapack, "dgesv_"))(&n, &n, &a, &n, &pivot, &x, &n, &info);
  ((gtsv*)dlsym(lapack, "dgtsv_"))(&n, &n, &none, &a, &none, &x, &n, &info);
  return x == 1 ? 0 : 1;
}
END
gcc /tmp/solve.c -o /tmp/solve
CREEK_LAPACK_VERBOSE=1 expect 'dgesv_' /tmp/solve

step 'manual pages and completion'
pages=$(dpkg -L creek | sed -n 's,^/usr/share/man/man1/\(.*\)\.1\.gz$,\1,p')
[ "$(printf '%s\n' "$pages" | wc -l)" -ge 10 ] || fail "few manual pages: $pages"
for page in $pages $(dpkg -L creek | sed -n 's,^/usr/bin/,,p'); do
  where=$(man -w "$page") || fail "no manual page $page"
  said=$(man --warnings -E UTF-8 "$page" 2>&1 >/dev/null)
  [ -z "$said" ] || fail "$where: $said"
done
expect 'creek (1)' whatis creek
expect '_creek' bash -c '. /usr/share/bash-completion/bash_completion; _completion_loader creek; complete -p creek'
expect '_creek' zsh -fc 'autoload -U compinit; compinit -u; print -r -- $_comps[creek]'
expect 'wordcount' fish -c 'complete -C "creek wordc"'

step 'build and run the examples'
examples=/usr/share/doc/creek/examples
# pkg-config's words are options.
# shellcheck disable=SC2046
g++ -std=c++20 -O1 $examples/fib/fib.cpp $(pkg-config --cflags --libs creek-tasking) -o /tmp/fib
/tmp/fib
for example in word_count lu_solve; do
  cmake -S $examples/$example -B /tmp/$example -DCMAKE_BUILD_TYPE=Release
  cmake --build /tmp/$example
done
/tmp/word_count/word_count /tmp/words.txt
/tmp/lu_solve/lu_solve

step 'remove the packages'
# shellcheck disable=SC2086
apt purge $names >/tmp/purge 2>&1 || fail "$(cat /tmp/purge)"
cat /tmp/purge
if grep -i 'not removed' /tmp/purge; then fail 'folders were left'; fi
apt autoremove --purge
for name in $names; do
  if dpkg-query -W "$name" 2>/dev/null; then fail "$name: dpkg still knows it"; fi
done
if whatis creek >/dev/null 2>&1; then fail 'the index of man-db still has creek'; fi
snapshot >/tmp/after
diff /tmp/before /tmp/after || fail 'files were left or changed, see above'
step 'done'

# SPDX-License-Identifier: Apache-2.0
"""Two machines on one: network namespaces joined by a bridge in a third one, each with a host name, shared memory and
mounts of its own. Nothing outside of these namespaces is reached, and nothing of the network outside is changed."""

import os
import pathlib
import re
import signal
import subprocess
import tempfile

import launch

PREFIX = "creek-test"
FOLDERS = pathlib.Path("/etc/netns")


def ip(*arguments, may_fail=False):
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, timeout=20, check=False)
    if done.returncode != 0 and not may_fail:
        raise OSError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def remove_namespace(name):
    for process in ip("netns", "pids", name, may_fail=True).split():
        try:
            os.kill(int(process), signal.SIGKILL)
        except ProcessLookupError:
            pass
    ip("netns", "del", name, may_fail=True)
    (FOLDERS / name / "hosts").unlink(missing_ok=True)
    if (FOLDERS / name).exists():
        (FOLDERS / name).rmdir()


def remove_leftovers():
    """Removes the namespaces of runs of this test that were killed."""
    for name, process in re.findall(rf"^({PREFIX}-(\d+)-\w+)", ip("netns", "list"), re.MULTILINE):
        if not pathlib.Path(f"/proc/{process}").exists():
            remove_namespace(name)


class Machines:
    """`first` and `second` until the end of a `with`; commands start on `first`."""

    names = ("first", "second")

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix=PREFIX)
        self.own = f"{PREFIX}-{os.getpid()}"
        self.holders = []
        try:
            self.make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def namespace(self, machine):
        return f"{self.own}-{machine}"

    def make(self):
        remove_leftovers()
        switch = self.namespace("switch")
        ip("netns", "add", switch)
        ip("-n", switch, "link", "add", "bridge", "type", "bridge")
        ip("-n", switch, "link", "set", "bridge", "up")
        hosts = "127.0.0.1 localhost\n" + "".join(f"10.77.0.{i} {name}\n" for i, name in enumerate(self.names, 1))
        entries = []
        for i, name in enumerate(self.names, 1):
            here = self.namespace(name)
            ip("netns", "add", here)
            ip("-n", switch, "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", here)
            ip("-n", switch, "link", "set", name, "master", "bridge", "up")
            ip("-n", here, "addr", "add", f"10.77.0.{i}/24", "dev", "eth0")
            for interface in ("lo", "eth0"):
                ip("-n", here, "link", "set", interface, "up")
            (FOLDERS / here).mkdir(parents=True)
            (FOLDERS / here / "hosts").write_text(hosts, encoding="ascii")
            entries.append(f"{name}) machine={self.hold(name)} ;;")
        self.agent = f"{self.folder.name}/agent"
        pathlib.Path(self.agent).write_text(
            "#!/bin/sh\n# Starts a command on a machine, as ssh would.\n"
            '[ "$1" = -x ] && shift\nname=$1\nshift\n'
            f'case $name in\n{chr(10).join(entries)}\n*) echo "no machine $name" >&2; exit 1 ;;\nesac\n'
            'exec nsenter -t $machine -n -m -u -i --wd="$PWD" -- /bin/sh -c "$*"\n', encoding="ascii")
        os.chmod(self.agent, 0o755)

    def hold(self, name):
        """Starts the process that keeps a machine's namespaces; it ends when this one does."""
        held = subprocess.Popen(
            ["ip", "netns", "exec", self.namespace(name), "unshare", "-u", "-m", "-i", "sh", "-c",
             f"hostname {name} && mount -t tmpfs none /dev/shm && echo ready && exec cat"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.holders.append(held)
        if held.stdout.readline() != "ready\n":
            raise OSError(f"no machine {name}: unshare failed")
        return held.pid

    def __exit__(self, *_):
        for name in (*self.names, "switch"):
            remove_namespace(self.namespace(name))
        for held in self.holders:
            held.stdin.close()
            held.wait(timeout=10)
        self.folder.cleanup()

    def disconnect(self, name):
        ip("-n", self.namespace(name), "link", "set", "eth0", "down")

    def connect(self, name):
        ip("-n", self.namespace(name), "link", "set", "eth0", "up")

    def processes(self, name):
        return {int(each) for each in ip("netns", "pids", self.namespace(name)).split()}

    def command(self, launcher, ranks, *program):
        """Returns the command that starts ranks on the two machines in turns, by the launcher's file."""
        places = ",".join(self.names)
        if "openmpi" in launcher:
            options = ["-mca", "plm", "rsh", "-mca", "plm_rsh_agent", self.agent, "--bind-to", "none", "--map-by",
                       "node", "--oversubscribe", "-mca", "btl", "self,tcp", "-mca", "btl_tcp_if_include", "eth0",
                       "-mca", "oob_tcp_if_include", "eth0", "-mca", "orte_tmpdir_base", self.folder.name,
                       "--host", places]
        else:
            options = ["-launcher", "ssh", "-launcher-exec", self.agent, "-hosts", places]
        first = str(self.holders[0].pid)
        return ["timeout", "-k", "1", "60", "nsenter", "-t", first, "-n", "-m", "-u", "-i", f"--wd={os.getcwd()}", "--",
                launcher, *options, "-n", str(ranks), *program]


def machines_or_skip():
    """Returns machines that are not made yet; is skipped (77) without the right to make namespaces."""
    why = None
    try:
        with Machines():
            pass
    except (OSError, subprocess.SubprocessError) as fault:
        why = fault
    if why is None:
        return Machines()
    print(f"skipped: no machines of network namespaces here: {why}\n"
          "left out: ranks on two machines, their word count, a killed rank, an unreachable machine")
    raise SystemExit(launch.SKIPPED)

# SPDX-License-Identifier: Apache-2.0
"""Plants one violation after another in a small tree and expects the layer check to report it."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK = sys.argv.pop() if len(sys.argv) > 1 else "cmake/layer_check.py"
LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"

# A tree without violations: every arrow that the architecture allows is used once.
CLEAN = {
    "core/include/creek/core/language.hpp": "#pragma once\n",
    "core/include/creek/core/error.hpp": "#include <string>\n#include <creek/core/language.hpp>\n",
    "core/include/creek/core/detail/word.hpp": '#include "../error.hpp"\n',
    "core/include/creek/core/word.hpp":
        "#include <creek/core/error.hpp>\nnamespace creek::detail {\nclass word {\n  int inner();\n};\n"
        "int words(int n);\n}\n",
    "core/src/lock.hpp": "",
    "core/src/lock.cpp": '#include "lock.hpp"\n#include <creek/core/error.hpp>\n',
    "tasking/include/creek/tasking.hpp": "#include <creek/core/error.hpp>\n",
    "power/include/creek/power/meter.hpp": "#include <creek/core/error.hpp>\n",
    "mapreduce/include/creek/mapreduce/job.hpp": "#include <creek/tasking.hpp>\n",
    "linalg/include/creek/linalg/lu.hpp": "#include <creek/tasking.hpp>\n",
    "backends/host/include/creek/host.hpp": "#include <creek/tasking.hpp>\n",
    "backends/host/src/pin.cpp": "#include <hwloc.h>\n#include <creek/host.hpp>\n",
    "backends/tbb/src/arena.cpp": "#include <tbb/task_arena.h>\n#include <creek/tasking.hpp>\n",
    "backends/src/registry.cpp": "#include <creek/host.hpp>\n#include <creek/tasking.hpp>\n",
    "support/command_line/command.cpp": "#include <CLI/CLI.hpp>\n",
    "support/json/json_value.cpp": "#include <nlohmann/json.hpp>\n",
    "support/median.hpp": "#include <creek/core/error.hpp>\n",
    "apps/creek/main.cpp": "#include <creek/host.hpp>\n#include <creek/mapreduce/job.hpp>\n"
                           "#include <support/median.hpp>\n",
    "apps/examples/map/map.hpp": "#include <creek/tasking.hpp>\n",
    "bench/map/creek.cpp": '#include "map/map.hpp"\n#include "../../support/median.hpp"\n',
    "bench/harness/workload.hpp": "",
    "bench/fib/fib.cpp": "#include <CLI/CLI.hpp>\n#include <tbb/task_group.h>\n#include <creek/tasking.hpp>\n",
    "tests/core/lock_test.cpp": '#include "../../core/src/lock.hpp"\n',
}


def check(planted):
    """Returns exit status and output of the check on the clean tree with `planted` laid over it."""
    with tempfile.TemporaryDirectory() as root:
        files = {name: LICENCE + text for name, text in CLEAN.items()} | planted
        for name, text in files.items():
            path = Path(root) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        result = subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True)
        return result.returncode, result.stdout


class planted(unittest.TestCase):
    def expect(self, name, text, finding):
        status, output = check({name: LICENCE + text})
        self.assertEqual(status, 1, output)
        self.assertIn(f"{name}:2: {finding}", output)
        self.assertIn("1 findings", output)

    def test_nothing_is_found_in_a_clean_tree(self):
        status, output = check({})
        self.assertEqual(status, 0, output)

    def test_lower_layer_includes_higher(self):
        self.expect("core/src/up.cpp", "#include <creek/tasking.hpp>\n", "core may not use tasking")

    def test_lower_layer_names_a_backend(self):
        self.expect("tasking/src/up.cpp", "#include <creek/host.hpp>\n",
                    "tasking may not use backends/host")

    def test_neighbours(self):
        self.expect("mapreduce/src/side.cpp", "#include <creek/linalg/lu.hpp>\n",
                    "mapreduce may not use linalg")

    def test_power_is_seen_through_core_only(self):
        for user in ("tasking", "linalg"):
            self.expect(f"{user}/src/joules.cpp", "#include <creek/power/meter.hpp>\n",
                        f"{user} may not use power")

    def test_apps_and_bench_meet(self):
        for include in ('<harness/workload.hpp>', '"../../bench/harness/workload.hpp"'):
            self.expect("apps/creek/bench.cpp", f"#include {include}\n", "apps may not use bench")
        for include in ('"../../apps/creek/main.cpp"', '"creek/main.cpp"'):
            self.expect("bench/fib/tool.cpp", f"#include {include}\n", "bench may not use apps")
        self.expect("support/text.hpp", "#include <creek/tasking.hpp>\n", "support may not use tasking")
        self.expect("power/src/median.cpp", '#include "../../support/median.hpp"\n',
                    "power may not use support")

    def test_backends_meet(self):
        self.expect("backends/tbb/src/meet.cpp", "#include <creek/host.hpp>\n",
                    "backends/tbb may not use backends/host")

    def test_table_of_backends_uses_their_public_headers_only(self):
        self.expect("backends/src/peek.cpp", '#include "../host/src/pin.cpp"\n',
                    "backends/host/src/pin.cpp is private to backends/host")
        self.expect("backends/src/jobs.cpp", "#include <creek/mapreduce/job.hpp>\n",
                    "backends may not use mapreduce")

    def test_public_header_includes_private_one(self):
        self.expect("core/include/creek/core/leak.hpp", '#include "lock.hpp"\n',
                    "a public header may not include core/src/lock.hpp")

    def test_private_header_of_another_layer(self):
        self.expect("tasking/src/peek.cpp", '#include "../../core/src/lock.hpp"\n',
                    "core/src/lock.hpp is private to core")
        self.expect("bench/peek.cpp", '#include "../core/src/lock.hpp"\n',
                    "core/src/lock.hpp is private to core")

    def test_details_of_another_layer(self):
        self.expect("tasking/src/peek.cpp", "#include <creek/core/detail/word.hpp>\n",
                    "<creek/core/detail/word.hpp> is a detail of core")
        for name in ("class", "word"):
            status, _ = check({"backends/tbb/src/peek.cpp": LICENCE + f"detail::{name} a;\n"})
            self.assertEqual(status, int(name == "word"))
        self.expect("linalg/src/peek.cpp", "int n = creek::detail::words(1);\n", "detail::words belongs to core")
        self.expect("apps/creek/peek.cpp", "creek::mapreduce::detail::table t;\n",
                    "detail::table belongs to mapreduce")

    def test_details_that_are_the_users_own(self):
        status, output = check({
            "linalg/src/own.cpp": LICENCE + "detail::words w;  // detail::word of linalg\nint n = detail::inner();\n",
            "core/src/own.cpp": LICENCE + "detail::word w;\nint n = creek::detail::words(1);\n",
            "tests/core/word_test.cpp": LICENCE + "creek::detail::word w;\n"})
        self.assertEqual(status, 0, output)

    def test_relative_path_into_another_layer(self):
        self.expect("core/src/climb.cpp", '#include "../../tasking/include/creek/tasking.hpp"\n',
                    "core may not use tasking")

    def test_library_of_another_backend(self):
        self.expect("tasking/src/arena.cpp", "#  include <tbb/task_arena.h>\n",
                    "<tbb/task_arena.h> belongs to backends/tbb")

    def test_library_that_another_source_wraps(self):
        self.expect("apps/creek/parse.cpp", "#include <CLI/App.hpp>\n",
                    "<CLI/App.hpp> may be included in apps by support/command_line/command.cpp only")
        self.expect("apps/creek/report.hpp", "#include <nlohmann/json_fwd.hpp>\n",
                    "<nlohmann/json_fwd.hpp> may be included in apps by support/json/json_value.cpp only")

    def test_header_that_is_nowhere(self):
        self.expect("core/src/lost.cpp", "#include <creek/core/lost.hpp>\n",
                    "no layer has the public header")

    def test_public_header_accepts_any_language(self):
        status, output = check({"core/include/creek/core/old.hpp": LICENCE + "#include <string>\n"})
        self.assertEqual(status, 1, output)
        self.assertIn("core/include/creek/core/old.hpp:1: a public header that includes no other", output)

    def test_includes_in_comments_do_not_count(self):
        status, output = check({"core/src/doc.cpp": LICENCE + "/*\n#include <creek/tasking.hpp>\n*/\n"
                                                              "// #include <creek/tasking.hpp>\n"})
        self.assertEqual(status, 0, output)

    def test_missing_licence(self):
        for name in ("core/src/bare.cpp", "core/CMakeLists.txt", ".ci/run"):
            status, output = check({name: "#!/bin/sh\nnothing\n"})
            self.assertEqual(status, 1, output)
            self.assertIn(f"{name}:1: does not start with its licence line", output)

    def test_no_layers_at_all(self):
        with tempfile.TemporaryDirectory() as root:
            result = subprocess.run([sys.executable, CHECK, root], capture_output=True)
            self.assertEqual(result.returncode, 2)


if __name__ == "__main__":
    unittest.main()

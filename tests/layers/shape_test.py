# SPDX-License-Identifier: Apache-2.0
"""Creates a small tree whose classes, files, lines and references are known, and expects the script to count them."""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = sys.argv.pop() if len(sys.argv) > 1 else "cmake/shape.py"
LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"

EXECUTOR = """
namespace creek::detail {
struct task;
class executor {
 public:
  virtual ~executor() = default;
  virtual void submit(task* ready) = 0;
  virtual void submit(task* ready, int priority);  // a simulated executor, in virtual time
  virtual unsigned workers() const noexcept { return 1; }

 private:
  int* policy_ = nullptr;
};
struct task {
  void (*run)(task* self) noexcept = nullptr;
};
class local_executor : public executor {
 public:
  void submit(task* ready) override;
};
}  // namespace creek::detail
"""

WORKER = """
#include <creek/tasking/executor.hpp>
namespace creek::host_backend {
/// class comment { virtual int x; };
template <class T = std::array<int, 3>>
  requires std::integral<T> && (sizeof(T) < 9)
class alignas(64) worker final : public detail::local_executor, private std::pair<int, int> {
 public:
  using value = detail::task;
  explicit worker(int count = 1, const char* text = "};") : count_{count}, text_(text) {}
  worker(const worker&) = delete;
  ~worker() override;
  bool operator==(const worker& other) const { return count_ == other.count_; }
  explicit operator bool() const noexcept;
  void operator()(int) {}
  template <class F>
  auto call(F&& f) -> decltype(f()) requires(sizeof(F) < 64) { return f(); }
  unsigned workers() const noexcept override;
  friend bool operator<(const worker&, const worker&) { return false; }
  static worker* here();

  static constexpr int limit = 1'000;
  struct nested {
    int a = 0, b = 0;
    bool empty() const;
  };
  enum class state { idle, busy };
  union {
    int number_;
    float real_;
  };

 private:
  int count_;
  const char* text_ = R"(class { int y; )";
  std::function<void(int)> handler_{[](int) {}};
  std::atomic<bool> stop_{false}, done_{false};
  void (*notify_)(void*) = nullptr;
  int lanes_[4];
  unsigned bits_ : 3;
  struct {
    int depth;
  } place_;
};
#ifdef NDEBUG
struct checks {
#else
struct checks : worker<int> {
#endif
  void run();
};
}  // namespace creek::host_backend
"""

WORKER_SOURCE = """
namespace creek::host_backend {
template <class T>
worker<T>::~worker() = default;
template <class T>
worker<T>::operator bool() const noexcept {
  return count_ > 0;
}
template <class T>
bool worker<T>::nested::empty() const {
  struct local { int unseen; };
  return a == 0;
}
namespace {
struct helper {
  int help();
};
int helper::help() { return 0; }
}
int free_function() { return detail::answer() + helper{}.help(); }
void checks::run() {}
}
"""

HERE = """
creek::host_backend::worker<int>* creek::host_backend::worker<int>::here() {
  return nullptr;
}
"""

TREE = {
    "core/include/creek/core/answer.hpp": "namespace creek::detail {\nint answer();\n}\n",
    "core/src/answer.cpp": "#include <creek/core/answer.hpp>\n// SCC\n\nint creek::detail::answer() { return 42; }  "
                           "// the chip's\nint creek_scc_x, chipped, sccs; /* chip\nscc */\n",
    "tasking/include/creek/tasking/executor.hpp": EXECUTOR,
    "linalg/src/lu.cpp": "namespace creek::linalg {\nnamespace detail {\nint task();\n}\n"
                         "int a = detail::task();\nint b = creek::detail::answer();  // detail::answer()\n"
                         "const char* c = \"detail::answer()\";\ncreek::detail::task* d;\n}\n",
    "backends/host/src/worker.hpp": WORKER,
    "backends/host/src/worker.cpp": WORKER_SOURCE,
    "backends/host/src/here.cpp": HERE,
    "tests/core/answer_test.cpp": "\n/* a\n\nb */ int main() {}\n// c\nint x = '\"';\n",
    "apps/tool/CMakeLists.txt": "",
    "apps/tool/notes.txt": "",
} | {f"apps/tool/part{number}.cpp": "" for number in range(15)}


def lay_out(root, files):
    for name, text in files.items():
        path = Path(root) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(LICENCE + text)


def run(root, *arguments):
    return subprocess.run([sys.executable, "-B", SCRIPT, root, *arguments], capture_output=True, text=True)


class planted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as root:
            lay_out(root, TREE)
            cls.report = json.loads(run(root, "--json").stdout)
            cls.text = run(root, "--all").stdout
            cls.worker = json.loads(run(root, "--json", "--class", "worker").stdout)
            cls.worker_text = run(root, "--class", "host_backend::worker").stdout
            cls.unknown = run(root, "--class", "nobody")

    def row(self, name):
        return next(row for row in self.report["classes"] if row["class"] == name)

    def test_members_of_a_class(self):
        self.assertEqual(len(self.worker), 1)
        self.assertEqual(self.worker[0]["data_members"], [
            "number_", "real_", "count_", "text_", "handler_", "stop_", "done_", "notify_", "lanes_", "bits_", "place_"])
        self.assertEqual(self.worker[0]["static_data_members"], ["limit"])
        self.assertEqual(self.worker[0]["member_functions"], [
            "worker", "worker", "~worker", "operator==", "operator bool", "operator()", "call", "workers", "here"])
        self.assertIn("11 data members, 9 member functions, 1 static data members", self.worker_text)

    def test_functions_defined_outside(self):
        self.assertEqual([(row["name"], Path(row["file"]).name, row["line"])
                          for row in self.worker[0]["outside_functions"]],
                         [("here", "here.cpp", 3), ("~worker", "worker.cpp", 4), ("operator bool", "worker.cpp", 6)])
        row = self.row("host_backend::worker")
        self.assertEqual((row["outside"], row["outside_files"]), (3, 2))
        for name in ("host_backend::helper", "host_backend::checks", "host_backend::worker::nested"):
            self.assertEqual(self.row(name)["outside"], 1, name)

    def test_every_class_the_largest_first(self):
        self.assertEqual([(row["class"], row["data"], row["functions"]) for row in self.report["classes"]], [
            ("host_backend::worker", 11, 9), ("detail::executor", 1, 4), ("host_backend::worker::nested", 2, 1),
            ("detail::local_executor", 0, 1), ("detail::task", 1, 0), ("host_backend::checks", 0, 1),
            ("host_backend::helper", 0, 1), ("host_backend::worker::place_'s type", 1, 0)])

    def test_virtual_functions_and_their_overriders(self):
        virtuals = self.report["virtuals"]
        self.assertEqual(virtuals["class"], "detail::executor")
        self.assertEqual([(row["function"], row["pure"], row["overridden_by"]) for row in virtuals["functions"]], [
            ("~executor", False, ["host_backend::worker"]), ("submit", True, ["detail::local_executor"]),
            ("submit", False, []), ("workers", False, ["host_backend::worker"])])

    def test_files_per_folder(self):
        self.assertEqual(self.report["folders"]["apps/tool"], 16)  # notes.txt is not a source
        self.assertEqual(self.report["folders"]["backends/host/src"], 3)
        self.assertEqual(self.report["totals"]["large_folders"], 1)

    def test_lines_of_code(self):
        self.assertEqual(self.report["lines"]["code"]["core"], 6)
        self.assertEqual(self.report["lines"]["code"]["linalg"], 9)
        self.assertEqual(self.report["lines"]["tests"], {"tests/core": 2})

    def test_lines_that_name_the_chip(self):
        self.assertEqual(self.report["mentions"]["core"],
                         {"simulated": 0, "virtual time": 0, "scc, chip": 4, "lines": 4})
        self.assertEqual(self.report["mentions"]["tasking"],
                         {"simulated": 1, "virtual time": 1, "scc, chip": 0, "lines": 1})
        self.assertEqual(self.report["totals"]["portable_lines_that_name_the_chip"], 5)

    def test_references_to_detail_of_another_module(self):
        self.assertEqual(sorted(tuple(row.values()) for row in self.report["detail_references"]), [
            ("backends/host", "core", "backends/host/src/worker.cpp", 1),
            ("backends/host", "tasking", "backends/host/src/worker.hpp", 2),
            ("linalg", "core", "linalg/src/lu.cpp", 1), ("linalg", "tasking", "linalg/src/lu.cpp", 1)])
        self.assertEqual(self.report["detail_owner_not_found"], [])

    def test_text(self):
        self.assertRegex(self.text, r"\n  host_backend::worker +20 +11 +9 +1 +3 +2 +backends/host/src/worker.hpp\n")
        self.assertRegex(self.text, r"\n  apps/tool +16\n")
        self.assertIn("4 virtual functions of detail::executor", self.text)

    def test_unknown_class(self):
        self.assertEqual(self.unknown.returncode, 2)
        self.assertIn("--class must name a class with members, got nobody", self.unknown.stderr)

    @unittest.skipUnless(shutil.which("git"), "needs git")
    def test_against_a_revision(self):
        with tempfile.TemporaryDirectory() as root:
            def git(*arguments):
                subprocess.run(["git", "-C", root, "-c", "user.name=t", "-c", "user.email=t@example.org",
                                *arguments], check=True, capture_output=True)
            lay_out(root, TREE)
            git("init")
            git("add", ".")
            git("commit", "-m", "tree")
            totals = json.loads(run(root, "--json", "--against", "HEAD").stdout)
            for name, row in totals.items():
                self.assertEqual((name, row["before"], row["difference"]),
                                 (name, self.report["totals"][name], 0))
            lay_out(root, {"core/src/pair.hpp": "struct pair {\n  int a, b;\n};\n"})
            totals = json.loads(run(root, "--json", "--against", "HEAD").stdout)
            self.assertEqual(totals["data_members"], {"before": 16, "after": 18, "difference": 2})
            self.assertEqual(totals["source_files"]["difference"], 1)
            self.assertEqual(totals["lines_of_code"]["difference"], 3)
            self.assertRegex(run(root, "--against", "HEAD").stdout, r"\n  data members +16 +18 +\+2\n")
            unknown = run(root, "--against", "nowhere")
            self.assertEqual(unknown.returncode, 2)
            self.assertIn("--against must name a revision, got nowhere", unknown.stderr)

    def test_no_layers_at_all(self):
        with tempfile.TemporaryDirectory() as root:
            self.assertEqual(run(root).returncode, 2)


if __name__ == "__main__":
    unittest.main()

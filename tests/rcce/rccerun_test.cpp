// SPDX-License-Identifier: Apache-2.0
// The start tool from outside: bad input, crashes, deadlocks, exit codes, lines, repeatable times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "support/few_cases.hpp"
#include "support/shell.hpp"
#include "support/temporary_folder.hpp"

namespace {

using creek::support::outcome;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// Runs `rccerun ARGUMENTS`; captures what `redirect` leaves on standard output.
outcome rccerun(const std::string& arguments, const std::string& redirect = "2>/dev/null") {
  return creek::support::run_in_shell("cd " PROGRAMS " && " RCCERUN " " + arguments + " " +
                                      redirect);
}
outcome errors_of(const std::string& arguments) {
  return rccerun(arguments, "2>&1 >/dev/null");
}

std::string write_file(const std::string& name, const std::string& text) {
  const auto path = std::filesystem::temp_directory_path() /
                    (name + "." + std::to_string(getpid()) + ".rcce_test");
  std::ofstream(path) << text;
  return path.string();
}

void expect_bad_usage(const std::string& arguments, const std::string& part) {
  const outcome errors = errors_of(arguments);
  EXPECT_EQ(errors.code, 2) << arguments;
  EXPECT_THAT(errors.output, StartsWith("rccerun: ")) << arguments;
  EXPECT_THAT(errors.output, HasSubstr(part)) << arguments;
  EXPECT_EQ(std::ranges::count(errors.output, '\n'), 1) << errors.output;
  EXPECT_EQ(rccerun(arguments).output, "") << arguments;
}

TEST(rccerun, prints_its_manual_page) {
  const outcome page = rccerun("--man-page");
  EXPECT_EQ(page.code, 0);
  EXPECT_THAT(page.output, StartsWith(".TH RCCERUN 1 "));
  EXPECT_THAT(page.output, HasSubstr(".B rccerun\n[\\fIOPTIONS\\fR] \\fIPROGRAM [ARGUMENT]..."));
  EXPECT_THAT(page.output, HasSubstr("\n\\fB\\-\\-nue\\fR"));
}

TEST(rccerun, refuses_bad_input_before_it_starts) {
  expect_bad_usage("-nue 2", "no program");
  expect_bad_usage("ping_pong.so", "--nue");
  expect_bad_usage("-nue 0 ping_pong.so", "1 to 48");
  expect_bad_usage("-nue 49 ping_pong.so", "1 to 48");
  expect_bad_usage("-nue x ping_pong.so", "x");
  expect_bad_usage("-nue 2 no_such.so", "No such file");
  expect_bad_usage("-nue 2 .", "is not a regular file");
  expect_bad_usage("-nue 2 CTestTestfile.cmake", "is not a shared object");
  expect_bad_usage("-nue 2 --backend tbb ping_pong.so", "tbb");
  expect_bad_usage("-nue 2 --chip scc-999 ping_pong.so", "scc-999");
  expect_bad_usage("-nue 2 --barrier none ping_pong.so", "none");
  expect_bad_usage("-nue 2 --buffer 9000 ping_pong.so", "9000");
  expect_bad_usage("-nue 2 --backend host --buffer 9000 ping_pong.so", "9000");
  expect_bad_usage("-nue 2 --cores 3 ping_pong.so", "use -nue");
  expect_bad_usage("-nue 2 --pipelinde ping_pong.so", "--pipelinde");
  expect_bad_usage("-nue 2 --barrier test-and-set one_sided_bits.so", "SINGLEBITFLAGS");
}

TEST(rccerun, refuses_on_the_host_what_only_a_simulated_chip_does) {
  for (const std::string option : {"--check", "--trace t.json", "--heatmap h.svg", "--seed 3",
                                   "--seed 0", "--clock measured", "--clock charged"}) {
    expect_bad_usage("-nue 2 --backend host " + option + " ping_pong.so",
                     option.substr(0, option.find(' ')));
  }
}

/// Runs ping_pong.so with a calibration, whose factor is given as JSON.
outcome run_calibrated(const std::string& factor, const std::string& options) {
  const creek::support::temporary_folder folder;
  std::filesystem::create_directory(folder / "creek");
  std::ofstream(folder / "creek" / "clock.json") << R"({"cycles_a_host_second": )" + factor + "}";
  return creek::support::run_in_shell(
      "cd " PROGRAMS " && XDG_CONFIG_HOME=" + folder.path().string() + " " RCCERUN " " + options +
      " ping_pong.so 2>&1");
}

TEST(rccerun, refuses_a_calibration_that_is_none) {
  const outcome got = run_calibrated(R"("many")", "-nue 1 --clock measured");
  EXPECT_EQ(got.code, 2);
  EXPECT_THAT(got.output, HasSubstr("has no calibration"));
}

TEST(rccerun, measures_what_a_program_computes) {
  const creek::support::temporary_folder folder;
  const std::string report = (folder / "report.json").string();
  const auto run = [&](const std::string& clock) {
    const outcome got = run_calibrated("1e12", "-nue 2 --clock " + clock + " --json " + report);
    EXPECT_EQ(got.code, 0) << got.output;
    return nlohmann::json::parse(std::ifstream(report));
  };
  const auto charged = run("charged"), measured = run("measured");
  EXPECT_EQ(measured.at("clock"), "measured");
  EXPECT_EQ(measured.at("cycles_a_host_second"), 1e12);
  EXPECT_FALSE(charged.contains("cycles_a_host_second"));
  EXPECT_GT(measured.at("virtual_seconds").get<double>(),
            2 * charged.at("virtual_seconds").get<double>());
}

TEST(rccerun, takes_the_first_word_that_is_no_option_for_the_program) {
  const std::string json = write_file("a.sorted.json", "");
  EXPECT_EQ(rccerun("--json " + json + " -nue 1 errors.so arguments -nue 3").output, "-nue\n3\n");
  EXPECT_EQ(rccerun("-nue=1 -- errors.so arguments --").output, "--\n");
  std::filesystem::remove(json);
  const auto program = std::filesystem::path(PROGRAMS) / "errors.program";
  std::filesystem::copy_file(std::filesystem::path(PROGRAMS) / "errors.so", program,
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(rccerun("-nue 1 ./errors.program arguments -nue --json").output, "-nue\n--json\n");
  std::filesystem::remove(program);
}

TEST(rccerun, opens_its_json_before_it_starts) {
  const outcome got = rccerun("-nue 1 --json /no/such/folder/a.json errors.so arguments word");
  EXPECT_EQ(got.code, 1);
  EXPECT_EQ(got.output, "");
}

TEST(rccerun, writes_json_of_arguments_that_are_no_text) {
  const std::string json = write_file("json", "");
  EXPECT_EQ(rccerun("-nue 1 --json " + json + " ring_shift.so \"$(printf '\\377')\"").code, 0);
  EXPECT_EQ(nlohmann::json::parse(std::ifstream(json))["program"].size(), 2u);
  std::filesystem::remove(json);
}

TEST(rccerun, refuses_objects_that_are_no_programs) {
  // The test itself: an executable, and without the required functions.
  expect_bad_usage("-nue 1 " RCCERUN, "position-independent executable");
}

TEST(rccerun, refuses_host_files_that_do_not_fit) {
  const auto refused = [](const std::string& text, const std::string& part) {
    const std::string file = write_file("hosts", text);
    expect_bad_usage("-nue 2 -f " + file + " ping_pong.so", part);
    std::filesystem::remove(file);
  };
  refused("00\n", "1 cores for 2");
  refused("00\n00\n", "twice");
  refused("00\n48\n", "0 to 47");
  refused("rck00\nhost\n", "host");
  expect_bad_usage("-nue 2 -f /no/such ping_pong.so", "No such file");
}

TEST(rccerun, refuses_host_files_that_are_none) {
  expect_bad_usage("-nue 2 -f /dev/zero ping_pong.so", "not a list of hosts");
  expect_bad_usage("-nue 2 -f / ping_pong.so", "Is a directory");
}

TEST(rccerun, keeps_its_files_where_standard_output_is_closed_or_files_are_limited) {
  const creek::support::temporary_folder folder;
  const std::string json = (folder / "out.json").string();
  const outcome closed =
      rccerun("-nue 2 --json " + json + " errors.so arguments word", "2>&1 1>&-");
  EXPECT_EQ(closed.code, 1);
  EXPECT_THAT(closed.output, HasSubstr("rccerun: output: "));
  EXPECT_TRUE(nlohmann::json::parse(std::ifstream(json)).contains("schema_version"));
  const outcome limited = creek::support::run_in_shell(
      "cd " PROGRAMS " && ulimit -f 0 && " RCCERUN " -nue 2 --json " + json + " ping_pong.so 2>&1");
  EXPECT_EQ(limited.code, 1);
  EXPECT_THAT(limited.output, HasSubstr("File too large"));
}

TEST(rccerun, fails_if_its_help_is_lost) {
  for (const char* option : {"--help", "--version", "--man-page"}) {
    const outcome full = rccerun(option, "2>&1 >/dev/full");
    EXPECT_EQ(full.code, 1) << option;
    EXPECT_THAT(full.output, HasSubstr("rccerun: output: ")) << option;
  }
}

TEST(rccerun, warns_of_misspelt_variables) {
  EXPECT_THAT(creek::support::run_in_shell("cd " PROGRAMS " && CREEK_IDEL=poll " RCCERUN
                                           " -nue 2 ping_pong.so 2>&1 >/dev/null")
                  .output,
              HasSubstr("CREEK_IDLE"));
}

TEST(rccerun, puts_ues_on_the_cores_of_the_host_file) {
  const auto time_on = [](const std::string& hosts) {
    const std::string file = write_file("hosts", hosts), json = write_file("json", "");
    EXPECT_EQ(rccerun("-nue 2 -f " + file + " --json " + json + " ping_pong.so").code, 0);
    const auto result = nlohmann::json::parse(std::ifstream(json));
    std::filesystem::remove(file);
    std::filesystem::remove(json);
    EXPECT_EQ(result["schema_version"], 1);
    return result["virtual_seconds"].get<double>();
  };
  const double neighbours = time_on("rck00\nrck01\n");
  EXPECT_GT(neighbours, 0);
  EXPECT_LT(neighbours, time_on("0\n47\n"));
}

TEST(rccerun, takes_the_same_virtual_time_again_and_another_with_another_seed) {
  const auto result_of = [](const std::string& options) {
    const std::string json = write_file("json", "");
    EXPECT_EQ(rccerun("-nue 16 --json " + json + " " + options + " wavefront.so").code, 0);
    std::stringstream text;
    text << std::ifstream(json).rdbuf();
    std::filesystem::remove(json);
    return text.str();
  };
  const std::string first = result_of("");
  EXPECT_EQ(first, result_of(""));
  EXPECT_NE(first, result_of("--seed 5"));
  EXPECT_EQ(result_of("--seed 5"), result_of("--seed 5"));
}

TEST(rccerun, runs_every_protocol) {
  for (const std::string option :
       {"--broadcast chain", "--broadcast binary-tree", "--broadcast two-tree",
        "--broadcast binomial", "--barrier test-and-set", "--barrier dissemination",
        "--lock backoff", "--pipelined", "--buffer 128", "--chip scc-800"}) {
    for (const std::string backend : {"scc", "host"}) {
      for (const std::string program : {"split.so", "reductions.so", "requests.so"}) {
        if (creek::support::few_cases && program != "reductions.so") continue;
        const std::string all = "-nue 7 " + option + " --backend " + backend + " " + program;
        EXPECT_EQ(rccerun(all).code, 0) << all;
      }
    }
  }
  EXPECT_EQ(rccerun("-nue 7 --lock backoff locks.so").code, 0);
}

TEST(rccerun, prints_the_dividers_of_all_tiles) {
  for (const std::string backend : {"scc", "host"}) {
    const outcome got = rccerun("-nue 3 --backend " + backend + " undeclared.so");
    EXPECT_EQ(got.code, 0);
    EXPECT_EQ(std::ranges::count(got.output, '\n'), 24) << got.output;
    EXPECT_THAT(got.output, StartsWith("Clock divider for tile 0 is 3\n"));
    EXPECT_THAT(got.output, HasSubstr("Clock divider for tile 23 is 3\n"));
  }
}

TEST(rccerun, finds_no_wrong_use_of_memory_in_its_protocols) {
  for (const std::string program : {"ping_pong", "split", "reductions", "requests", "probes",
                                    "one_sided", "one_sided_bits", "locks"}) {
    const outcome got = errors_of("-nue 7 --check " + program + ".so");
    EXPECT_EQ(got.code, 0) << program;
    EXPECT_EQ(got.output, "") << program;
  }
}

TEST(rccerun, fails_if_the_checker_finds_a_wrong_use) {
  const outcome got = errors_of("-nue 2 --check race.so");
  EXPECT_EQ(got.code, 1);
  EXPECT_NE(got.output, "");
}

TEST(rccerun, reports_a_deadlock_with_what_everybody_waits_for) {
  const outcome messages = errors_of("-nue 3 errors.so deadlock");
  EXPECT_EQ(messages.code, 1);
  EXPECT_THAT(messages.output, HasSubstr("deadlock"));
  EXPECT_THAT(messages.output, HasSubstr("core 0, UE 0 in RCCE_recv, from UE 1"));
  EXPECT_THAT(messages.output, HasSubstr("core 1, UE 1 in RCCE_recv, from UE 0"));
  EXPECT_THAT(messages.output, HasSubstr(" since "));
  EXPECT_THAT(messages.output, EndsWith("ns\n"));
  EXPECT_THAT(messages.output, Not(HasSubstr("UE 2")));  // has already ended
  const outcome barrier = errors_of("-nue 3 errors.so barrier");
  EXPECT_EQ(barrier.code, 1);
  EXPECT_THAT(barrier.output, HasSubstr("UE 2 in RCCE_barrier"));
  const outcome lock = errors_of("-nue 2 errors.so lock");
  EXPECT_EQ(lock.code, 1);
  EXPECT_THAT(lock.output, HasSubstr("UE 1 in RCCE_acquire_lock, of UE 0"));
}

TEST(rccerun, names_the_ue_that_crashed) {
  for (const std::string backend : {"scc", "host"}) {
    for (const auto& [what, why] : {std::pair{"crash", "segmentation fault"},
                                    {"send-crash", "segmentation fault"},
                                    {"overflow", "segmentation fault"},
                                    {"abort", "aborted"}}) {
      const outcome got = errors_of("-nue 3 --backend " + backend + " errors.so " + what);
      EXPECT_EQ(got.code, 1) << what;
      EXPECT_THAT(got.output, HasSubstr("rccerun: UE 1: " + std::string(why))) << what;
    }
  }
}

TEST(rccerun, fails_if_a_ue_does) {
  for (const std::string backend : {"scc", "host"}) {
    for (const std::string how : {"exit", "_exit", "_Exit", "quick_exit"}) {
      const outcome left = errors_of("-nue 3 --backend " + backend + " errors.so " + how);
      EXPECT_EQ(left.code, 1) << how;
      EXPECT_EQ(left.output, "rccerun: UE 1 returned 5\n") << how;
    }
    const outcome returned = errors_of("-nue 3 --backend " + backend + " errors.so return");
    EXPECT_EQ(returned.code, 1);
    EXPECT_EQ(returned.output, "rccerun: UE 1 returned 3\n");
  }
}

TEST(rccerun, names_the_ue_that_an_exception_ended_and_lets_nobody_poll_on) {
  for (const std::string backend : {"scc", "host"}) {
    for (const std::string how : {"", " push"}) {
      const std::string program = "-nue 3 --backend " + backend + " exceptions.so ";
      const outcome standard = errors_of(program + "standard" + how);
      EXPECT_EQ(standard.code, 1);
      EXPECT_EQ(standard.output, "rccerun: UE 1: uncaught exception: boom\n");
      const outcome other = errors_of(program + "other" + how);
      EXPECT_EQ(other.code, 1);
      EXPECT_THAT(other.output, StartsWith("rccerun: UE 1: uncaught exception"));
    }
  }
}

TEST(rccerun, lets_programs_poll_for_times_and_for_memory) {
  for (const std::string backend : {"scc", "host"}) {
    for (const std::string what : {"time", "fence", "flush", "patience"}) {
      const std::string all = "-nue 3 --backend " + backend + " polling.so " + what;
      EXPECT_EQ(rccerun(all).code, 0) << all;
    }
  }
  const outcome never = errors_of("-nue 1 polling.so never");
  EXPECT_EQ(never.code, 1);
  EXPECT_THAT(never.output, HasSubstr("livelock"));
  EXPECT_THAT(never.output, HasSubstr("UE 0 in RCCE_fence"));
}

TEST(rccerun, prints_rcce_errors_where_the_program_asks_for_them) {
  for (const std::string backend : {"scc", "host"}) {
    const outcome got = errors_of("-nue 3 --backend " + backend + " errors.so messages");
    EXPECT_EQ(got.code, 0);
    EXPECT_EQ(got.output, "RCCE error 1234324 on UE 1 in RCCE_send: Invalid ID\n");
  }
}

TEST(rccerun, keeps_lines_whole) {
  for (const std::string backend : {"scc", "host"}) {
    const outcome got = rccerun("-nue 5 --backend " + backend + " errors.so lines");
    EXPECT_EQ(got.code, 0);
    std::istringstream lines(got.output);
    std::multiset<std::string> printed;
    for (std::string line; std::getline(lines, line);) printed.insert(line);
    EXPECT_EQ(printed.size(), 5u * 20 + 5);
    for (int ue = 0; ue < 5; ++ue) {
      for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(printed.count("UE " + std::to_string(ue) + " line " + std::to_string(i)), 1u);
      }
    }
    EXPECT_EQ(printed.count("no end"), 5u);
  }
}

TEST(rccerun, keeps_errors_out_of_lines_that_others_have_begun) {
  const outcome got = errors_of("-nue 2 partial_lines.so");
  EXPECT_EQ(got.code, 0);
  std::istringstream lines(got.output);
  int errors = 0, whole = 0;
  for (std::string line; std::getline(lines, line);) {
    errors += line.starts_with("RCCE error 1234340 on UE 0 in RCCE_set_frequency_divider: ");
    whole += line == "begun and ended";
  }
  EXPECT_EQ(errors, 100) << got.output;
  EXPECT_EQ(whole, 1) << got.output;
}

TEST(creek_rcce_cc, takes_options_commands_and_links_as_the_compiler_does) {
  const std::string object = write_file("object", ""), link = object + ".link";
  std::filesystem::create_symlink(COMPILER, link);
  const auto compile = [&](const std::string& words) {
    std::filesystem::remove(object);
    return creek::support::run_in_shell(words + " " SOURCES "/programs/ping_pong.c -o " + object +
                                        " 2>&1");
  };
  const std::string with = "CC=" HOST_COMPILER " ";
  for (const std::string& words :
       {with + COMPILER " -v -O1", std::string("CC='env " HOST_COMPILER "' " COMPILER " -O1"),
        with + link + " -O1"}) {
    const outcome got = compile(words);
    EXPECT_EQ(got.code, 0) << words << got.output;
    EXPECT_EQ(rccerun("-nue 2 " + object).code, 0) << words;
  }
  std::filesystem::remove(object);
  std::filesystem::remove(link);
}

TEST(rccerun, hands_arguments_on) {
  const outcome got = rccerun("-nue 1 ring_shift.so -nue 7 --json");
  EXPECT_EQ(got.code, 0);
  EXPECT_EQ(got.output, "UE 0 has 4 arguments\n");
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Peak memory from the kernel's accounting.
#include "memory.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <creek/core/error.hpp>
#include <creek/mapreduce.hpp>
#include <fstream>
#include <iostream>

namespace creek_bench {
namespace {

std::uint64_t status_bytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field)) return std::stoull(line.substr(field.size() + 1)) * 1024;
  }
  return 0;
}

memory_use measure_here(const std::string& file, unsigned workers) {
  using namespace creek::mapreduce;
  creek::runtime rt(creek::scheduler_options{.workers = workers});
  rt.run([] { return 0; });
  const std::uint64_t before = status_bytes("VmRSS");
  text_files input({file});
  memory_use used;
  {
    const auto counted = rt.run([&] { return run(word_count{}, input, {.top = 20}); });
    used.peak = status_bytes("VmHWM") - before - input.mapped_bytes();
    used.answer = counted.distinct * 8;
  }
  const auto all = rt.run([&] { return run(word_count{}, input, {.sort = false}); });
  for (const auto& word : all) used.answer += word.key.size();
  return used;
}

}  // namespace

memory_use measure_memory(const std::string& file, unsigned workers) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) throw creek::error(errno, "pipe");
  const pid_t child = fork();
  if (child < 0) throw creek::error(errno, "fork");
  memory_use used;
  if (child == 0) {
    used = measure_here(file, workers);
    const bool sent = write(pipe_ends[1], &used, sizeof(used)) == sizeof(used);
    _exit(sent ? 0 : 1);
  }
  close(pipe_ends[1]);
  const bool got = read(pipe_ends[0], &used, sizeof(used)) == sizeof(used);
  close(pipe_ends[0]);
  waitpid(child, nullptr, 0);
  if (!got) throw creek::error(EIO, "memory measurement");
  return used;
}

}  // namespace creek_bench

// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <creek/core/error.hpp>

extern char** environ;

namespace creek::tool::bench {
namespace {

/// Both ends of a pipe, closed with this object; neither is inherited by other children.
class pipe_ends {
 public:
  pipe_ends() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) throw creek::error(errno, "pipe");
  }
  ~pipe_ends() {
    for (const int end : ends_) {
      if (end >= 0) close(end);
    }
  }
  pipe_ends(const pipe_ends&) = delete;
  pipe_ends& operator=(const pipe_ends&) = delete;
  [[nodiscard]] int reading() const { return ends_[0]; }
  [[nodiscard]] int writing() const { return ends_[1]; }
  void close_writing() {
    close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

/// File actions that tell posix_spawn how to set up the child's descriptors.
class file_actions {
 public:
  file_actions(const pipe_ends& output, const pipe_ends& errors) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output.writing(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, errors.writing(), STDERR_FILENO);
  }
  ~file_actions() { posix_spawn_file_actions_destroy(&actions_); }
  file_actions(const file_actions&) = delete;
  file_actions& operator=(const file_actions&) = delete;
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

pid_t start(const std::filesystem::path& program, const std::vector<std::string>& arguments,
            const file_actions& actions) {
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t child = -1;
  if (const int failed =
          posix_spawnp(&child, program.c_str(), actions.get(), nullptr, argv.data(), environ)) {
    throw creek::error(failed, program.string());
  }
  return child;
}

/// Appends the available bytes. Returns false at the end of the stream.
bool read_some(int from, std::string& to) {
  std::array<char, 4096> buffer;
  const ssize_t count = read(from, buffer.data(), buffer.size());
  if (count > 0) to.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

/// Reads both streams to their ends. Returns false if that takes until `deadline`.
bool drain(const pipe_ends& output, const pipe_ends& errors, process_result& result,
           std::chrono::steady_clock::time_point deadline) {
  std::array<pollfd, 2> streams{pollfd{output.reading(), POLLIN, 0},
                                pollfd{errors.reading(), POLLIN, 0}};
  const std::array<std::string*, 2> texts{&result.output, &result.errors};
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    if (poll(streams.data(), streams.size(), static_cast<int>(left.count()) + 1) < 0) continue;
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (streams[i].revents != 0 && !read_some(streams[i].fd, *texts[i])) streams[i].fd = -1;
    }
  }
  return true;
}

}  // namespace

process_result run_process(const std::filesystem::path& program,
                           const std::vector<std::string>& arguments, std::chrono::seconds limit) {
  pipe_ends output;
  pipe_ends errors;
  const pid_t child = start(program, arguments, file_actions(output, errors));
  output.close_writing();
  errors.close_writing();
  process_result result;
  result.timed_out = !drain(output, errors, result, std::chrono::steady_clock::now() + limit);
  if (result.timed_out) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace creek::tool::bench

// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <iostream>

namespace creek::command_line {

void prepare_process() noexcept {
  // Opens it for the wrong direction, so that using it fails as on a closed stream.
  for (int stream = 0; stream <= 2; ++stream) {
    if (fcntl(stream, F_GETFD) == -1) (void)open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
  }
  std::signal(SIGXFSZ, SIG_IGN);
}

int flush_output() noexcept {
  errno = 0;
  std::cout.flush();
  const bool lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout;
  if (!lost) return 0;
  return errno != 0 ? errno : EIO;
}

void print_error(std::string_view line) noexcept {
  char end = '\n';
  const iovec parts[] = {{const_cast<char*>(line.data()), line.size()}, {&end, 1}};
  // A pipe without a reader must not end the process: SIGPIPE goes to the thread that writes.
  sigset_t broken_pipe, before;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
  if (writev(STDERR_FILENO, parts, 2) < 0 && errno == EPIPE && sigismember(&before, SIGPIPE) == 0) {
    const timespec at_once{};
    sigtimedwait(&broken_pipe, nullptr, &at_once);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace creek::command_line

// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <csignal>

namespace creek::command_line {

void prepare_process() noexcept {
  // The wrong direction: use fails as that of a closed stream does.
  for (int stream = 0; stream <= 2; ++stream) {
    if (fcntl(stream, F_GETFD) == -1) (void)open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
  }
  std::signal(SIGXFSZ, SIG_IGN);
}

void print_error(std::string_view line) noexcept {
  char end = '\n';
  const iovec parts[] = {{const_cast<char*>(line.data()), line.size()}, {&end, 1}};
  [[maybe_unused]] const ssize_t written = writev(STDERR_FILENO, parts, 2);
}

}  // namespace creek::command_line

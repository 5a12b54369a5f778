// SPDX-License-Identifier: Apache-2.0
#include <creek/stream/descriptors.hpp>

#include <limits.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <creek/core/error.hpp>
#include <creek/tasking/blocking.hpp>
#include <creek/tasking/descriptors.hpp>

namespace creek::stream {

namespace {

/// Returns the type of a file, as in stat::st_mode.
mode_t type_of(int descriptor, const std::string& name) {
  struct stat found {};
  if (fstat(descriptor, &found) != 0) throw error(errno, name);
  return found.st_mode & S_IFMT;
}

/// Whether the system may keep a reader waiting for a disk, without saying so to epoll.
bool is_on_disk(mode_t type) {
  return type == S_IFREG || type == S_IFBLK;
}

/// Whether a system call could not tell without blocking: it has to wait, or knows no such call.
bool cannot_tell(ssize_t result) {
  return result == -EOPNOTSUPP || result == -ENOSYS || result == -EINVAL;
}

/// Returns what a system call returns, or -errno. In a place of its own, since compilers take the
/// address of errno for that of a whole function, while a strand may continue on another thread.
template <class Call>
[[gnu::noinline]] ssize_t result_of(Call call) {
  ssize_t done = 0;
  do {
    done = call();
  } while (done < 0 && errno == EINTR);
  return done < 0 ? -errno : done;
}

/// Does not block: returns -EAGAIN if it would, or fails as in cannot_tell().
ssize_t read_what_is_there(int descriptor, std::span<char> to) {
  const iovec place{to.data(), to.size()};
  return result_of([&] { return preadv2(descriptor, &place, 1, -1, RWF_NOWAIT); });
}

ssize_t read_now(int descriptor, std::span<char> to) {
  return result_of([&] { return read(descriptor, to.data(), to.size()); });
}

/// Writes without blocking; returns as read_what_is_there().
ssize_t write_what_fits(int descriptor, mode_t type, std::string_view bytes) {
  if (type == S_IFSOCK) {
    return result_of([&] {
      return ::send(descriptor, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    });
  }
  const iovec place{const_cast<char*>(bytes.data()), bytes.size()};
  return result_of([&] { return pwritev2(descriptor, &place, 1, -1, RWF_NOWAIT); });
}

/// A write that does not block once the descriptor is ready: a pipe has room for that much then,
/// and a terminal for a line.
ssize_t write_as_far_as_ready(int descriptor, mode_t type, std::string_view bytes) {
  constexpr std::size_t line = 80;
  const std::size_t room = type == S_IFIFO ? PIPE_BUF : type == S_IFCHR ? line : bytes.size();
  const std::size_t count = std::min(bytes.size(), room);
  return result_of([&] { return write(descriptor, bytes.data(), count); });
}

}  // namespace

std::size_t detail::read_some(int descriptor, const std::string& name, std::span<char> to,
                              wait_call wait) {
  ssize_t done = read_what_is_there(descriptor, to);
  while (done == -EAGAIN || cannot_tell(done)) {
    const bool on_disk = is_on_disk(type_of(descriptor, name));
    bool stopped = false;
    wait([&](const std::stop_token& stop) {
      if (on_disk) {
        done = blocking([&] { return read_now(descriptor, to); });
      } else {
        stopped = !wait_readable(descriptor, stop);
      }
    });
    if (stopped) return 0;
    if (on_disk) break;
    done = cannot_tell(done) ? read_now(descriptor, to) : read_what_is_there(descriptor, to);
  }
  if (done < 0) throw error(static_cast<int>(-done), "cannot read " + name);
  return static_cast<std::size_t>(done);
}

namespace {

/// Writes all; gives up at a stop. Waits by `wait`. Throws error.
void write_all(int descriptor, mode_t type, const std::string& name, std::string_view bytes,
               detail::wait_call wait) {
  while (!bytes.empty()) {
    ssize_t done = write_what_fits(descriptor, type, bytes);
    if (done == -EAGAIN || cannot_tell(done)) {
      bool stopped = false;
      if (!is_on_disk(type)) {
        wait([&](const std::stop_token& stop) { stopped = !wait_writable(descriptor, stop); });
      }
      if (stopped) return;
      if (is_on_disk(type) || cannot_tell(done)) {
        done = write_as_far_as_ready(descriptor, type, bytes);
      }
    }
    if (done == -EAGAIN) continue;
    if (done < 0) throw error(static_cast<int>(-done), "cannot write to " + name);
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
}

}  // namespace

read_blocks::read_blocks(int descriptor, std::size_t max_bytes)
    : from_(descriptor), max_bytes_(std::max<std::size_t>(max_bytes, 1)) {}

read_blocks::read_blocks(const std::string& file, std::size_t max_bytes)
    : from_(file), max_bytes_(std::max<std::size_t>(max_bytes, 1)) {}

void read_blocks::operator()(out<std::string>& to) {
  std::string block(max_bytes_, '\0');
  while (const std::size_t bytes = read_some(from_, block, to)) {
    to.write(std::string(block, 0, bytes));
  }
}

read_lines::read_lines(int descriptor, std::size_t max_bytes)
    : from_(descriptor), max_bytes_(max_bytes) {}

read_lines::read_lines(const std::string& file, std::size_t max_bytes)
    : from_(file), max_bytes_(max_bytes) {}

void read_lines::operator()(out<std::string>& to) {
  std::string block(read_blocks::usual_bytes, '\0');
  std::string line;
  while (const std::size_t bytes = read_some(from_, block, to)) {
    write_lines_in(std::string_view(block).substr(0, bytes), line, to);
  }
  if (!line.empty()) to.write(std::move(line));
}

/// Writes the lines that end in `bytes`; `line` is what there is of one that has not ended.
void read_lines::write_lines_in(std::string_view bytes, std::string& line,
                                out<std::string>& to) const {
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    require_room(line.size() + end, to);
    line.append(bytes.substr(0, end));
    if (end == bytes.size()) return;
    to.write(std::exchange(line, {}));
    bytes.remove_prefix(end + 1);
  }
}

void read_lines::require_room(std::size_t bytes, const out<std::string>& to) const {
  if (bytes <= max_bytes_) return;
  throw error(EMSGSIZE, fmt::format("{}: line {} is longer than {} bytes", from_.name(),
                                    to.items() + 1, max_bytes_));
}

write_strings::write_strings(int descriptor, std::string behind)
    : descriptor_(descriptor), behind_(std::move(behind)) {}

void write_strings::operator()(in<std::string>& from) {
  const std::string name = fmt::format("descriptor {}", descriptor_);
  const mode_t type = type_of(descriptor_, name);
  for (std::string& each : from) {
    each += behind_;
    write_all(descriptor_, type, name, each, detail::waiting_in(from));
  }
}

}  // namespace creek::stream

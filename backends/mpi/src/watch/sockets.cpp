// SPDX-License-Identifier: Apache-2.0
#include "sockets.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace creek::mpi_backend {
namespace {

/// An address of a socket, of either family.
union any_address {
  sockaddr plain;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

void set_option(int socket, int level, int name, int value) noexcept {
  setsockopt(socket, level, name, &value, sizeof value);
}

/// Data that is not acknowledged, or silence, for three seconds ends the connection.
void notice_a_dead_peer(int socket) noexcept {
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 3000);
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
}

int milliseconds_until(std::chrono::steady_clock::time_point until) noexcept {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      until - std::chrono::steady_clock::now());
  return left.count() > 0 ? static_cast<int>(left.count()) : 0;
}

bool becomes_ready(int socket, short event, std::chrono::steady_clock::time_point until) noexcept {
  pollfd one{.fd = socket, .events = event, .revents = 0};
  return poll(&one, 1, milliseconds_until(until)) == 1;
}

descriptor connect_to_one(const watch_address& to, std::uint16_t port,
                          std::chrono::steady_clock::time_point until) noexcept {
  any_address address{};
  socklen_t size = sizeof address.v4;
  if (to.family == AF_INET) {
    address.v4.sin_family = AF_INET;
    address.v4.sin_port = htons(port);
    std::memcpy(&address.v4.sin_addr, to.bytes.data(), sizeof address.v4.sin_addr);
  } else {
    address.v6.sin6_family = AF_INET6;
    address.v6.sin6_port = htons(port);
    std::memcpy(&address.v6.sin6_addr, to.bytes.data(), sizeof address.v6.sin6_addr);
    size = sizeof address.v6;
  }
  descriptor made(socket(to.family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made) return made;
  if (connect(made.get(), &address.plain, size) != 0) {
    if (errno != EINPROGRESS || !becomes_ready(made.get(), POLLOUT, until)) return {};
    int error = 0;
    socklen_t room = sizeof error;
    getsockopt(made.get(), SOL_SOCKET, SO_ERROR, &error, &room);
    if (error != 0) return {};
  }
  notice_a_dead_peer(made.get());
  return made;
}

}  // namespace

void descriptor::reset() noexcept {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

descriptor listen_on_any(std::uint16_t& port) noexcept {
  for (const int family : {AF_INET6, AF_INET}) {
    descriptor made(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!made) continue;
    if (family == AF_INET6) set_option(made.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
    any_address address{};
    address.plain.sa_family = static_cast<sa_family_t>(family);
    socklen_t size = family == AF_INET6 ? sizeof address.v6 : sizeof address.v4;
    constexpr int backlog = 4096;  // the system takes fewer
    if (bind(made.get(), &address.plain, size) != 0 || listen(made.get(), backlog) != 0) continue;
    if (getsockname(made.get(), &address.plain, &size) != 0) continue;
    port = ntohs(family == AF_INET6 ? address.v6.sin6_port : address.v4.sin_port);
    return made;
  }
  return {};
}

void store_addresses(watch_invitation& where) noexcept {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return;
  for (const bool loopback : {false, true}) {
    for (const ifaddrs* at = all; at != nullptr; at = at->ifa_next) {
      if (at->ifa_addr == nullptr || (at->ifa_flags & IFF_UP) == 0) continue;
      if (((at->ifa_flags & IFF_LOOPBACK) != 0) != loopback) continue;
      if (where.addresses == watch_invitation::max_addresses) break;
      watch_address& made = where.address[where.addresses];
      made.family = at->ifa_addr->sa_family;
      any_address address{};
      if (made.family == AF_INET) {
        std::memcpy(&address, at->ifa_addr, sizeof address.v4);
        std::memcpy(made.bytes.data(), &address.v4.sin_addr, sizeof address.v4.sin_addr);
      } else if (made.family == AF_INET6) {
        std::memcpy(&address, at->ifa_addr, sizeof address.v6);
        if (IN6_IS_ADDR_LINKLOCAL(&address.v6.sin6_addr)) continue;
        std::memcpy(made.bytes.data(), &address.v6.sin6_addr, sizeof address.v6.sin6_addr);
      } else {
        continue;
      }
      ++where.addresses;
    }
  }
  freeifaddrs(all);
}

descriptor accept_on(int listener) noexcept {
  descriptor made(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (made) notice_a_dead_peer(made.get());
  return made;
}

descriptor connect_to(const watch_invitation& where, const watch_message& hello,
                      std::chrono::steady_clock::time_point until) noexcept {
  const bool is_same_host = where.host == hello.host;
  for (std::size_t i = 0; i < where.addresses; ++i) {
    const watch_address& to = where.address[i];
    const bool is_loopback =
        to.family == AF_INET ? to.bytes[0] == 127
                             : IN6_IS_ADDR_LOOPBACK(reinterpret_cast<const in6_addr*>(&to.bytes));
    if (is_loopback && !is_same_host) continue;
    const auto patience =
        std::min(until, std::chrono::steady_clock::now() + std::chrono::milliseconds(700));
    descriptor made = connect_to_one(to, where.port, patience);
    if (!made) continue;
    send_to(made.get(), hello);
    message_reader reader;
    watch_message answer;
    while (reader.now() == message_reader::state::open &&
           becomes_ready(made.get(), POLLIN, patience)) {
      if (reader.read(made.get(), answer)) {
        if (answer.kind == watch_kind::welcome && answer.token == hello.token) return made;
        break;
      }
    }
  }
  return {};
}

void send_to(int socket, const watch_message& one) noexcept {
  static_cast<void>(send(socket, &one, sizeof one, MSG_NOSIGNAL | MSG_DONTWAIT));
}

void send_to(int socket, const watch_request& one, int passed_socket) noexcept {
  iovec data{const_cast<watch_request*>(&one), sizeof one};
  alignas(cmsghdr) std::array<unsigned char, CMSG_SPACE(sizeof(int))> room{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (passed_socket >= 0) {
    message.msg_control = room.data();
    message.msg_controllen = room.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &passed_socket, sizeof passed_socket);
  }
  static_cast<void>(sendmsg(socket, &message, MSG_NOSIGNAL));
}

bool message_reader::read(int socket, watch_message& one) noexcept {
  const ssize_t got = recv(socket, bytes_.data() + filled_, bytes_.size() - filled_, MSG_DONTWAIT);
  if (got > 0) {
    filled_ += static_cast<std::size_t>(got);
    if (filled_ < bytes_.size()) return false;
    std::memcpy(&one, bytes_.data(), sizeof one);
    filled_ = 0;
    return true;
  }
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  state_ = got < 0 && is_unreachable(errno) ? state::unreachable : state::closed;
  return false;
}

bool is_unreachable(int error) noexcept {
  return error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH || error == ENETDOWN;
}

}  // namespace creek::mpi_backend

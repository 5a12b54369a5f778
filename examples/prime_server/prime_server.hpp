// SPDX-License-Identifier: Apache-2.0
// A server for the loopback network: a client sends a number per line, and gets the number of
// primes below it. Asio waits for the network; each request is answered by a task, which uses all
// workers.
#pragma once

#include <charconv>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio.hpp>

#include <creek/tasking.hpp>
#include <creek/tasking/asio.hpp>

namespace prime_server {

using boost::asio::ip::tcp;
using boost::system::error_code;

inline long primes_below(long end) {
  return creek::parallel_reduce(
      2L, end, 0L,
      [](long n) {
        for (long d = 2; d * d <= n; ++d) {
          if (n % d == 0) return 0L;
        }
        return 1L;
      },
      std::plus<>{});
}

/// Returns the answer to a line.
inline std::string answer_to(const std::string& line) {
  long end = 0;
  const auto [rest, failure] = std::from_chars(line.data(), line.data() + line.size(), end);
  if (failure != std::errc{} || rest != line.data() + line.size() || end < 0 || end > 10'000'000) {
    return "send a number from 0 to 10000000\n";
  }
  return std::to_string(primes_below(end)) + "\n";
}

/// One client. A handler is called when the one before has ended, so there is no lock; the last one
/// that keeps the session destroys it.
class session : public std::enable_shared_from_this<session> {
 public:
  explicit session(tcp::socket connected) : socket_(std::move(connected)) {}

  void read() {
    boost::asio::async_read_until(
        socket_, boost::asio::dynamic_buffer(received_, 100), '\n',
        [self = shared_from_this()](error_code failure, std::size_t length) {
          if (failure) return;  // the client has gone, or sends no lines
          self->sent_ = answer_to(self->received_.substr(0, length - 1));
          self->received_.erase(0, length);
          self->write();
        });
  }

 private:
  void write() {
    boost::asio::async_write(socket_, boost::asio::buffer(sent_),
                             [self = shared_from_this()](error_code failure, std::size_t) {
                               if (!failure) self->read();
                             });
  }

  tcp::socket socket_;  // its handlers are tasks, as the server's context is that of the workers
  std::string received_, sent_;
};

class server {
 public:
  /// Listens on a port that the system chooses if `port` is 0.
  explicit server(creek::runtime& workers, unsigned short port = 0)
      : context_(workers),
        in_turn_(boost::asio::make_strand(context_.get_executor())),
        acceptor_(in_turn_, tcp::endpoint(boost::asio::ip::address_v4::loopback(), port)) {
    boost::asio::post(in_turn_, [this] { accept(); });
  }
  /// Accepts no more clients, and waits until those that are connected have left.
  ~server() {
    boost::asio::post(in_turn_, [this] {
      error_code ignored;
      acceptor_.close(ignored);
    });
    context_.join();
  }
  unsigned short port() const { return acceptor_.local_endpoint().port(); }

 private:
  void accept() {
    acceptor_.async_accept(context_.get_executor(), [this](error_code failure, tcp::socket client) {
      if (!acceptor_.is_open()) return;
      if (!failure) std::make_shared<session>(std::move(client))->read();
      accept();
    });
  }

  creek::asio_context context_;
  boost::asio::strand<creek::asio_executor> in_turn_;  // for the acceptor, used by several handlers
  tcp::acceptor acceptor_;
};

}  // namespace prime_server

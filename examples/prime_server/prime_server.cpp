// SPDX-License-Identifier: Apache-2.0
// With a port as its argument serves until the end of standard input; without one asks itself.
#include "prime_server.hpp"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

int main(int argc, char** argv) {
  creek::runtime workers;
  if (argc > 1) {
    const prime_server::server served(workers, static_cast<unsigned short>(std::atoi(argv[1])));
    std::printf("listening on 127.0.0.1:%d until standard input ends\n", served.port());
    std::fflush(stdout);
    for (std::string ignored; std::getline(std::cin, ignored);) {
    }
    return 0;
  }
  const prime_server::server served(workers);
  boost::asio::ip::tcp::iostream client("127.0.0.1", std::to_string(served.port()));
  client << "1000000\n" << std::flush;
  std::string answer;
  std::getline(client, answer);
  std::printf("primes below 1000000: %s\n", answer.c_str());
  return answer == "78498" ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
// Disturbances of a busy machine: threads are stopped anywhere, for any time, and moved.
#pragma once

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace creek::support {

/// While it lives, threads of the process are held in a signal handler, and bound to other
/// processors than before; all of it comes from one seed, but when it happens does not.
class disturbance {
 public:
  explicit disturbance(std::uint64_t seed) {
    sched_getaffinity(0, sizeof allowed_, &allowed_);
    struct sigaction held {};
    held.sa_handler = [](int) {
      const timespec pause{0, held_for.load(std::memory_order_relaxed)};
      nanosleep(&pause, nullptr);
    };
    held.sa_flags = SA_RESTART | SA_ONSTACK;
    sigaction(SIGUSR1, &held, nullptr);
    disturber_ = std::jthread([this, seed](const std::stop_token& stop) {
      std::mt19937_64 random(seed);
      while (!stop.stop_requested()) {
        disturb(random);
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
      }
    });
  }

 private:
  static std::vector<pid_t> threads() {
    std::vector<pid_t> all;
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
      const std::string name = each.path().filename().string();
      pid_t thread = 0;
      std::from_chars(name.data(), name.data() + name.size(), thread);
      if (thread != gettid()) all.push_back(thread);
    }
    return all;
  }
  void disturb(std::mt19937_64& random) const {
    const std::vector<pid_t> all = threads();
    const pid_t one = all[random() % all.size()];  // it may have ended
    if (random() % 3 != 0) {
      held_for.store(static_cast<long>(random() % 3'000'000), std::memory_order_relaxed);
      syscall(SYS_tgkill, getpid(), one, SIGUSR1);
      return;
    }
    cpu_set_t some;
    CPU_ZERO(&some);
    for (int i = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(i, &allowed_) && random() % 2 == 0) CPU_SET(i, &some);
    }
    sched_setaffinity(one, sizeof some, CPU_COUNT(&some) != 0 ? &some : &allowed_);
  }

  static inline std::atomic<long> held_for{0};  ///< ns
  cpu_set_t allowed_{};
  std::jthread disturber_;
};

/// While it lives, the whole process is stopped and continued, by a child. To be made before there
/// are threads.
class stops_and_goes {
 public:
  explicit stops_and_goes(std::uint64_t seed)
      : ends_(static_cast<std::atomic<bool>*>(mmap(nullptr, sizeof *ends_, PROT_READ | PROT_WRITE,
                                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0))),
        child_(ends_ != MAP_FAILED ? fork() : -1) {
    if (child_ == 0) stop_and_go(getppid(), seed);
  }
  stops_and_goes(const stops_and_goes&) = delete;
  stops_and_goes& operator=(const stops_and_goes&) = delete;
  ~stops_and_goes() {
    if (child_ <= 0) return;
    // Not killed: it might have stopped this process just before.
    ends_->store(true);
    waitpid(child_, nullptr, 0);
    munmap(ends_, sizeof *ends_);
  }

 private:
  [[noreturn]] void stop_and_go(pid_t stopped, std::uint64_t seed) const {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::mt19937_64 random(seed);
    while (!ends_->load()) {
      usleep(static_cast<useconds_t>(random() % 50'000));
      kill(stopped, SIGSTOP);
      usleep(static_cast<useconds_t>(random() % 5000));
      kill(stopped, SIGCONT);
    }
    _exit(0);
  }

  std::atomic<bool>* const ends_;
  const pid_t child_;
};

}  // namespace creek::support

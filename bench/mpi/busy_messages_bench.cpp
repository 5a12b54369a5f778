// SPDX-License-Identifier: Apache-2.0
// The delay of messages between two ranks whose workers compute all the time, through creek's
// communicator and through the MPI below it, in turns in one process: half of the time for a
// message and its answer. Then the processor time of the threads that exchange them, and the
// iterations that workers do meanwhile, as a share of those that they do without messages. To be
// started on two ranks by the launcher of the MPI.
#include <time.h>
#include <creek/mpi/adopt.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include <creek/host.hpp>
#include <creek/tasking.hpp>

#include "../../support/median.hpp"

namespace {

using clock_type = std::chrono::steady_clock;

double seconds_since(clock_type::time_point begin) {
  return std::chrono::duration<double>(clock_type::now() - begin).count();
}

/// Returns the processor time of the calling thread, in seconds.
double thread_seconds() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

/// Workers that run parallel loops of pure computation until the end of the object.
class busy_workers {
 public:
  explicit busy_workers(unsigned workers)
      : workers_(creek::host{workers}), done_(workers_.async([this] { compute(); })) {}
  busy_workers(const busy_workers&) = delete;
  busy_workers& operator=(const busy_workers&) = delete;
  ~busy_workers() {
    stop_ = true;
    done_.get();
  }
  /// Iterations so far, of all workers; each takes some ten microseconds.
  [[nodiscard]] std::uint64_t iterations() const { return iterations_; }

 private:
  void compute() {
    while (!stop_) creek::parallel_for(0, 10'000, [this](int i) { iterate(i); });
  }
  void iterate(int i) {
    if (stop_.load(std::memory_order_relaxed)) return;
    double x = i;
    for (int k = 0; k < 5000; ++k) x = 0.5 * x + 1;
    if (x > 1) iterations_.fetch_add(1, std::memory_order_relaxed);
  }

  std::atomic<bool> stop_ = false;
  std::atomic<std::uint64_t> iterations_ = 0;
  creek::runtime workers_;
  creek::future<void> done_;
};

/// Messages of one size, through one library, with a pause of rank 0 after each answer.
struct traffic {
  std::size_t bytes;
  std::chrono::microseconds pause;
  bool by_creek;
  std::vector<double> delays, uses, rates;
};

/// Sends and receives messages of one traffic.
class link {
 public:
  link(creek::mpi_communicator& c, const traffic& what)
      : c_(c), by_creek_(what.by_creek), data_(what.bytes, 'x') {}
  void send(bool is_last) {
    data_[0] = is_last ? 'l' : 'x';
    if (by_creek_) return c_.send(std::span<const char>(data_), other());
    MPI_Send(data_.data(), static_cast<int>(data_.size()), MPI_CHAR, other(), 1, MPI_COMM_WORLD);
  }
  /// Returns whether this message is the last.
  bool receive() {
    if (by_creek_) {
      c_.recv(std::span(data_), other());
    } else {
      MPI_Recv(data_.data(), static_cast<int>(data_.size()), MPI_CHAR, other(), 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
    }
    return data_[0] == 'l';
  }

 private:
  [[nodiscard]] int other() const { return 1 - c_.rank(); }
  creek::mpi_communicator& c_;
  bool by_creek_;
  std::vector<char> data_;
};

/// Rank 0 asks for so many seconds, and adds half of each round trip in microseconds to `delays`.
void ask(link& over, traffic& what, double seconds) {
  const auto begin = clock_type::now();
  for (bool is_last = false; !is_last;) {
    is_last = seconds_since(begin) >= seconds;
    const auto sent = clock_type::now();
    over.send(is_last);
    (void)over.receive();
    what.delays.push_back(seconds_since(sent) * 1e6 / 2);
    if (what.pause.count() > 0) std::this_thread::sleep_for(what.pause);
  }
}

void answer(link& over) {
  for (bool is_last = false; !is_last;) {
    is_last = over.receive();
    over.send(is_last);
  }
}

/// Figures of both ranks per second: processor time of the calling threads, iterations of workers.
struct rates {
  double use, work;
};

/// Calls f on both ranks; returns the figures meanwhile.
template <class F>
rates during(creek::mpi_communicator& c, const busy_workers* workers, F&& f) {
  c.barrier();
  const std::uint64_t before = workers != nullptr ? workers->iterations() : 0;
  const auto begin = clock_type::now();
  const double used = thread_seconds();
  f();
  const double spent = seconds_since(begin), use = (thread_seconds() - used) / spent;
  const double done = workers != nullptr ? static_cast<double>(workers->iterations() - before) : 0;
  const auto add = [](double a, double b) { return a + b; };
  return {c.allreduce(use, add), c.allreduce(done / spent, add)};
}

void run_round(creek::mpi_communicator& c, const busy_workers* workers, std::span<traffic> all,
               double seconds) {
  const rates alone = during(
      c, workers, [&] { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); });
  for (traffic& each : all) {
    link over(c, each);
    const rates beside = during(c, workers, [&] {
      if (c.rank() == 0) return ask(over, each, seconds);
      answer(over);
    });
    each.uses.push_back(beside.use);
    each.rates.push_back(alone.work > 0 ? beside.work / alone.work : 0);
  }
}

void print(const traffic& what, unsigned workers) {
  std::vector<double> sorted = what.delays;
  std::sort(sorted.begin(), sorted.end());
  std::printf("%8u %8zu %8d %6s %8zu %9.1f %9.1f %9.1f %8.2f", workers, what.bytes,
              static_cast<int>(what.pause.count()), what.by_creek ? "creek" : "bare", sorted.size(),
              bench::quantile(sorted, 0.5), bench::quantile(sorted, 0.99), sorted.back(),
              bench::median(what.uses));
  if (workers > 0) std::printf(" %8.2f", bench::median(what.rates));
  std::printf("\n");
  std::fflush(stdout);
}

/// Measures with so many busy workers on each rank; 0: none.
void measure(creek::mpi_communicator& c, unsigned workers, double seconds, int rounds) {
  std::vector<traffic> all;
  for (const std::size_t bytes : {64, 65'536}) {
    for (const int pause : {0, 2000}) {
      for (const bool by_creek : {false, true}) {
        all.push_back({bytes, std::chrono::microseconds(pause), by_creek, {}, {}, {}});
      }
    }
  }
  const auto busy = workers > 0 ? std::make_unique<busy_workers>(workers) : nullptr;
  for (int i = 0; i < rounds; ++i) run_round(c, busy.get(), all, seconds);
  if (c.rank() != 0) return;
  for (const traffic& each : all) print(each, workers);
}

void run(double seconds, int rounds) {
  creek::mpi_communicator c = creek::adopt(MPI_COMM_WORLD);
  const auto processors = static_cast<unsigned>(c.processors());
  if (c.rank() == 0) {
    std::printf("%u processors per rank; half round trips in microseconds, %d rounds of %g s\n",
                processors, rounds, seconds);
    std::printf("%8s %8s %8s %6s %8s %9s %9s %9s %8s %8s\n", "workers", "bytes", "pause", "by",
                "samples", "median", "99 %", "max", "use", "work");
  }
  for (const unsigned workers : {0u, processors, 2 * processors}) {
    measure(c, workers, seconds, rounds);
  }
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0, size = 0, code = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2 || !(seconds > 0) || rounds < 1 || level < MPI_THREAD_FUNNELED) {
    std::fprintf(stderr, "usage: mpirun -n 2 %s [SECONDS [ROUNDS]]\n", argv[0]);
    code = 2;
  } else {
    run(seconds, rounds);
  }
  MPI_Finalize();
  return code;
}

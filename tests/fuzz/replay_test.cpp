// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target without a fuzzer: the inputs of its corpus, and changes of them from a seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "harness.hpp"

namespace {

namespace fs = std::filesystem;
using bytes = std::vector<std::uint8_t>;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Returns the inputs in the folder that ctest names, in the order of their names.
std::vector<std::pair<std::string, bytes>> corpus() {
  const char* folder = std::getenv("CREEK_FUZZ_CORPUS");
  std::vector<std::pair<std::string, bytes>> inputs;
  if (folder == nullptr) return inputs;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    inputs.emplace_back(entry.path().filename(), bytes{std::istreambuf_iterator<char>(in), {}});
  }
  std::ranges::sort(inputs);
  return inputs;
}

/// Runs one input. Writes it to a file first, which remains if the input kills the process.
void run(const bytes& input, const std::string& file) {
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(input.data()),
             static_cast<std::streamsize>(input.size()));
  ASSERT_NO_THROW(LLVMFuzzerTestOneInput(input.data(), input.size())) << "input kept in " << file;
}

/// Makes a few small changes, and sometimes appends the end of another input.
bytes changed(bytes input, const bytes& other, std::mt19937_64& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::ptrdiff_t>(random() % n); };
  for (auto changes = 1 + below(4); changes != 0; --changes) {
    const auto at = below(input.size() + 1);
    const bool inside = at != static_cast<std::ptrdiff_t>(input.size());
    switch (below(6)) {
      case 0:
        if (inside) input[static_cast<std::size_t>(at)] ^= static_cast<std::uint8_t>(1 << below(8));
        break;
      case 1:
        if (inside) input[static_cast<std::size_t>(at)] = static_cast<std::uint8_t>(random());
        break;
      case 2:
        input.insert(input.begin() + at, "\n|,\"- .09\0\xff"[below(11)]);
        break;
      case 3:
        input.erase(input.begin() + at, std::min(input.begin() + at + 1 + below(8), input.end()));
        break;
      case 4: {
        const bytes piece(input.begin() + at,
                          std::min(input.begin() + at + 1 + below(32), input.end()));
        input.insert(input.begin() + below(input.size() + 1), piece.begin(), piece.end());
        break;
      }
      default: {
        const auto keep = std::min(at, static_cast<std::ptrdiff_t>(other.size()));
        input.resize(static_cast<std::size_t>(at));
        input.insert(input.end(), other.begin() + keep, other.end());
      }
    }
  }
  return input;
}

class fuzz : public testing::Test {
 protected:
  fuzz() : file_(testing::TempDir() + "/creek-fuzz-" + std::to_string(getpid()) + ".input") {}
  ~fuzz() override {
    if (!HasFailure()) fs::remove(file_);
  }

  std::string file_;
};

TEST_F(fuzz, inputs_of_the_corpus) {
  const auto inputs = corpus();
  ASSERT_FALSE(inputs.empty()) << "CREEK_FUZZ_CORPUS must name a folder of inputs";
  for (const auto& [name, input] : inputs) {
    SCOPED_TRACE(name);
    ASSERT_NO_FATAL_FAILURE(run(input, file_));
  }
}

TEST_F(fuzz, changed_inputs) {
  const auto inputs = corpus();
  ASSERT_FALSE(inputs.empty()) << "CREEK_FUZZ_CORPUS must name a folder of inputs";
  const std::uint64_t seed = from_environment("CREEK_TEST_SEED", std::random_device{}());
  const std::uint64_t rounds = from_environment("CREEK_TEST_ROUNDS", 2000);
  std::printf("CREEK_TEST_SEED=%llu, input in %s\n", static_cast<unsigned long long>(seed),
              file_.c_str());
  std::fflush(stdout);
  std::mt19937_64 random(seed);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const auto any = [&]() -> const bytes& { return inputs[random() % inputs.size()].second; };
    const bytes& first = any();
    ASSERT_NO_FATAL_FAILURE(run(changed(first, any(), random), file_)) << "round " << round;
  }
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Properties of every format: round trips, streams, files that are not matrices, and damage.
#include <creek/linalg/generate.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <complex>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <thread>

#include "matrix_files.hpp"
#include "support/few_cases.hpp"

namespace creek::linalg::testing {
namespace {

using fault = matrix_file_fault;

template <class T>
class typed_matrix_files : public matrix_files {};
using element_types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(typed_matrix_files, element_types);

TYPED_TEST(typed_matrix_files, come_back_as_they_were_written) {
  using T = TypeParam;
  matrix<T> all = generate<T>({.seed = 5}, 40, 30);
  all(3, 3) = std::numeric_limits<real<T>>::quiet_NaN();
  all(4, 4) = -std::numeric_limits<real<T>>::infinity();
  all(5, 5) = std::numeric_limits<real<T>>::denorm_min();
  all(6, 6) = std::numeric_limits<real<T>>::max();
  all(7, 7) = real<T>(-0.0);
  const auto back_and_forth = [&](const_view<T> a) {
    for (const char* name : {"a.npy", "a.mtx"}) {
      const std::string path = (this->folder_ / name).string();
      write_matrix<T>(path, a);
      expect_same<T>(read_matrix<T>(path), a);
    }
  };
  back_and_forth(all.view());
  back_and_forth(all.view().block(2, 1, 7, 11));  // a leading dimension larger than its rows
  back_and_forth(all.view().block(0, 0, 1, 1));
  back_and_forth(all.view().block(0, 0, 0, 5));
  back_and_forth(all.view().block(0, 0, 5, 0));
}

TEST_F(matrix_files, are_read_from_pipes) {
  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto send = [&](std::string content) {
    return std::jthread(
        [&, sent = std::move(content)] { std::ofstream(pipe, std::ios::binary) << sent; });
  };
  const matrix<double> a = generate<double>({}, 300, 200);
  const std::string path = (folder_ / "a.npy").string();
  write_matrix<double>(path, a);
  const std::string content = content_of(path);
  {
    const auto writer = send(content);
    expect_same<double>(read_matrix<double>(pipe), a);
  }
  const auto writer = send(content.substr(0, content.size() - 5));
  try {
    read_matrix<double>(pipe);
    FAIL() << "the end is missing";
  } catch (const error& why) {
    EXPECT_EQ(why.code(), fault::truncated) << why.what();
    EXPECT_NE(std::string(why.what()).find("end 5 bytes early"), std::string::npos) << why.what();
  }
}

/// Replaces a descriptor of this process by a file while it lives.
class redirected {
 public:
  redirected(int descriptor, const std::string& path, int flags)
      : descriptor_(descriptor), kept_(dup(descriptor)) {
    const int file = open(path.c_str(), flags | O_CLOEXEC, 0600);
    dup2(file, descriptor);
    close(file);
  }
  ~redirected() {
    dup2(kept_, descriptor_);
    close(kept_);
  }
  redirected(const redirected&) = delete;
  redirected& operator=(const redirected&) = delete;

 private:
  int descriptor_;
  int kept_;
};

TEST_F(matrix_files, go_through_standard_input_and_output) {
  const matrix<float> a = generate<float>({}, 20, 30);
  const std::string path = (folder_ / "stream").string();
  for (const matrix_format format : {matrix_format::npy, matrix_format::matrix_market}) {
    {
      const redirected output(STDOUT_FILENO, path, O_CREAT | O_TRUNC | O_WRONLY);
      write_matrix<float>("-", a, format);
    }
    const redirected input(STDIN_FILENO, path, O_RDONLY);
    matrix_file from("-");
    EXPECT_EQ(from.info().format, format);
    expect_same<float>(from.read<float>(), a);
  }
  EXPECT_THROW(write_matrix<float>("-", a), usage_error);
}

TEST_F(matrix_files, are_replaced_whole_or_not_at_all) {
  const matrix<double> a = generate<double>({}, 2, 2);
  EXPECT_THROW(write_matrix<double>((folder_ / "no" / "a.npy").string(), a), error);
  EXPECT_THROW(write_matrix<double>((folder_ / "a.txt").string(), a), usage_error);
  const std::string path = file("old", "a.npy");
  write_matrix<double>(path, a);
  expect_same<double>(read_matrix<double>(path), a);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(matrix_files, name_the_file_that_cannot_be_opened) {
  const std::string missing = (folder_ / "missing.npy").string();
  try {
    inspect_matrix_file(missing);
    FAIL();
  } catch (const error& why) {
    EXPECT_EQ(why.code(), std::errc::no_such_file_or_directory);
    EXPECT_TRUE(std::string(why.what()).starts_with(missing));
  }
  EXPECT_THROW(inspect_matrix_file(folder_.path().string()), error);
}

TEST_F(matrix_files, that_hold_something_else_are_refused) {
  expect_error("", fault::unsupported, "empty");
  expect_error("1 2 3\n4 5 6\n", fault::unsupported, "neither NumPy's .npy nor Matrix Market");
  expect_error("PK\x03\x04 and so on", fault::unsupported, "unpack the .npy");
  expect_error("\x1f\x8b\x08 and so on", fault::unsupported, "gunzip");
}

TEST_F(matrix_files, are_read_once_and_only_into_the_memory_allowed) {
  const matrix<double> a = generate<double>({}, 100, 100);
  const std::string path = (folder_ / "a.npy").string();
  write_matrix<double>(path, a);
  matrix_file from(path);
  try {
    from.read<double>(79'999);
    FAIL() << "80000 bytes are needed";
  } catch (const error& why) {
    EXPECT_EQ(why.code(), std::errc::not_enough_memory) << why.what();
  }
  expect_same<double>(from.read<double>(200'000), a);
  EXPECT_THROW(from.read<double>(), usage_error);
}

/// Returns a valid file with a few of its bytes changed, removed, duplicated, or cut off.
std::string damaged(std::string content, std::mt19937_64& random) {
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
  // Half of the damage goes to numbers, including shapes: other words are mostly just refused.
  const auto place = [&] {
    const std::size_t at = below(content.size());
    const std::size_t digit = content.find_first_of("0123456789", at);
    return random() % 2 && digit != content.npos ? digit : at;
  };
  for (std::uint64_t times = 1 + below(3); times > 0 && !content.empty(); --times) {
    constexpr std::string_view telling =
        "01234567890123456789012345678901234-+.eE ,()'{}<>|\n\r%LTFinfc\xff";
    const std::size_t at = place();
    switch (random() % 12) {
      case 0:
        content.erase(at, 1 + below(4));
        break;
      case 1:
        content.insert(at, 1, telling[below(telling.size())]);
        break;
      case 2:
        content.insert(at, content.substr(place(), below(20)));
        break;
      case 3:
        content.resize(below(2) ? content.size() - below(3) : at);
        break;
      case 4:
      case 5:
        content[at] = static_cast<char>(random());
        break;
      default:
        content[at] = telling[below(telling.size())];
        break;
    }
  }
  return content;
}

template <class T>
bool readable(const std::string& path) {
  try {
    matrix_file from(path);
    const matrix_file_info info = from.info();
    const matrix<T> a = from.read<T>(1 << 20);
    EXPECT_EQ(a.rows(), info.rows);
    EXPECT_EQ(a.cols(), info.cols);
    return true;
  } catch (const error& why) {
    EXPECT_EQ(std::string_view(why.what()).find('\n'), std::string_view::npos) << why.what();
    return false;
  }
}

// The result is a matrix or creek::error; the sanitizers find everything else.
TEST_F(matrix_files, that_are_damaged_are_read_or_refused) {
  const matrix<std::complex<double>> a = generate<std::complex<double>>({.seed = 3}, 3, 4);
  const std::string path = (folder_ / "valid").string();
  std::vector<std::string> valid{
      npy_file(1, npy_head("<f4", false, "(2, 3)"), std::string(24, '\x3f')),
      npy_file(2, npy_head(">i8", true, "(2,)"), std::string(16, '\1')),
      "%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 5\n3 3 -6\n",
      "%%MatrixMarket matrix coordinate pattern general\n3 2 2\n2 1\n3 1\n",
      "%%MatrixMarket matrix array real skew-symmetric\n% c\n3 3\n1.5\n-2e-3\ninf\n"};
  for (const matrix_format format : {matrix_format::npy, matrix_format::matrix_market}) {
    write_matrix<std::complex<double>>(path, a, format);
    valid.push_back(content_of(path));
  }
  std::mt19937_64 random(2024);
  int good = 0;
  constexpr int rounds = creek::support::few_cases ? 80 : 250;
  for (int round = 0; round < rounds; ++round) {
    for (const std::string& content : valid) {
      file(damaged(content, random), "damaged");
      const std::string damaged_path = (folder_ / "damaged").string();
      SCOPED_TRACE("round " + std::to_string(round));
      good += readable<double>(damaged_path);
      good += readable<std::complex<float>>(damaged_path);
    }
  }
  // Some damage must be accepted and some refused, otherwise this test would test nothing.
  EXPECT_GT(good, rounds * 3 / 5);
  EXPECT_LT(good, rounds * static_cast<int>(valid.size()));
}

}  // namespace
}  // namespace creek::linalg::testing

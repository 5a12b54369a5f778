// SPDX-License-Identifier: Apache-2.0
// Shared parts of the tests of matrix files: a folder for them, exact .npy files, and the required
// form of an error.
#pragma once

#include <gtest/gtest.h>

#include <creek/core/error.hpp>
#include <creek/linalg/matrix_file.hpp>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "support/temporary_folder.hpp"

namespace creek::linalg::testing {

/// Returns a .npy file with a head as NumPy writes it: padded so that the elements begin at a
/// multiple of 64.
inline std::string npy_file(int major, const std::string& dictionary, std::string_view elements) {
  const std::size_t width = major == 1 ? 2 : 4;
  const std::size_t fixed = 8 + width;
  const std::size_t padding = (64 - (fixed + dictionary.size() + 1) % 64) % 64;
  const std::size_t length = dictionary.size() + padding + 1;
  std::string file = "\x93NUMPY";
  file += {static_cast<char>(major), '\0'};
  for (std::size_t i = 0; i < width; ++i) file += static_cast<char>(length >> (8 * i) & 0xff);
  return file + dictionary + std::string(padding, ' ') + "\n" + std::string(elements);
}

inline std::string npy_head(const std::string& descr, bool fortran, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }";
}

class matrix_files : public ::testing::Test {
 protected:
  std::string file(std::string_view content, const std::string& name = "a") const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  static std::string content_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  /// Expects that reading `content` fails with this code, in one line with the file and `text`.
  template <class T = double>
  void expect_error(std::string_view content, std::error_code code, std::string_view text,
                    std::size_t max_bytes = 1 << 24) const {
    const std::string path = file(content);
    try {
      read_matrix<T>(path, max_bytes);
      ADD_FAILURE() << "read, though: " << text;
    } catch (const error& why) {
      const std::string what = why.what();
      EXPECT_EQ(why.code(), code) << what;
      EXPECT_TRUE(what.starts_with(path)) << what;
      EXPECT_NE(what.find(text), what.npos) << what << "\nlacks: " << text;
      EXPECT_EQ(what.find('\n'), what.npos) << what;
    }
  }

  support::temporary_folder folder_;
};

/// Expects exact equality, including NaN and the signs of zeros.
template <class T>
void expect_same(const_view<T> a, const_view<T> b) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.cols(), b.cols());
  const auto same = [](auto x, auto y) {
    return (x == y && std::signbit(x) == std::signbit(y)) || (std::isnan(x) && std::isnan(y));
  };
  for (index_t j = 0; j < a.cols(); ++j) {
    for (index_t i = 0; i < a.rows(); ++i) {
      EXPECT_TRUE(same(std::real(a(i, j)), std::real(b(i, j))) &&
                  same(std::imag(a(i, j)), std::imag(b(i, j))))
          << "(" << i << ", " << j << "): " << a(i, j) << " and " << b(i, j);
    }
  }
}

}  // namespace creek::linalg::testing

// SPDX-License-Identifier: Apache-2.0
// Matrix Market files of every kind, and a violation of each of their rules.
#include <complex>
#include <limits>
#include <string>

#include "matrix_files.hpp"

namespace creek::linalg::testing {
namespace {

using fault = matrix_file_fault;
using market_files = matrix_files;
using z = std::complex<double>;

constexpr const char* sparse =
    "%%MatrixMarket matrix coordinate real general\n"
    "% a comment\n"
    "\n"
    "  3 4   3\n"
    "1 1 1.5\n"
    "3 4 -2e3\r\n"
    "\t2 1\t+7 \n"
    "\n";

TEST_F(market_files, reads_entries_by_their_indices) {
  const auto a = read_matrix<double>(file(sparse));
  ASSERT_EQ(a.rows(), 3);
  ASSERT_EQ(a.cols(), 4);
  EXPECT_EQ(a(0, 0), 1.5);
  EXPECT_EQ(a(2, 3), -2000);
  EXPECT_EQ(a(1, 0), 7);
  EXPECT_EQ(a(1, 1), 0);
  EXPECT_EQ(read_matrix<std::complex<float>>(file(sparse))(0, 0), 1.5f);
}

TEST_F(market_files, says_what_is_in_a_file_by_its_head) {
  const matrix_file_info info = inspect_matrix_file(file(sparse));
  EXPECT_EQ(info.format, matrix_format::matrix_market);
  EXPECT_EQ(info.type, element_type::d);
  EXPECT_EQ(info.rows, 3);
  EXPECT_EQ(info.cols, 4);
  EXPECT_EQ(info.entries, 3u);
  EXPECT_EQ(info.description, "Matrix Market, coordinate real general");
  EXPECT_EQ(inspect_matrix_file(
                file("%%MatrixMarket MATRIX Array Complex skew-symmetric\n3 3\n0 1\n0 1\n0 1\n"))
                .type,
            element_type::z);
}

TEST_F(market_files, reads_arrays_by_columns) {
  const auto a =
      read_matrix<double>(file("%%MatrixMarket matrix array real general\n2 2\n1\n2\n"
                               "3\n4"));  // the last line has no line end
  EXPECT_EQ(a(0, 0), 1);
  EXPECT_EQ(a(1, 0), 2);
  EXPECT_EQ(a(0, 1), 3);
  EXPECT_EQ(a(1, 1), 4);
}

TEST_F(market_files, mirrors_what_a_symmetry_leaves_out) {
  const auto s =
      read_matrix<double>(file("%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n"));
  EXPECT_EQ(s(0, 0), 1);
  EXPECT_EQ(s(1, 0), 2);
  EXPECT_EQ(s(0, 1), 2);
  EXPECT_EQ(s(1, 1), 3);
  const auto k =
      read_matrix<float>(file("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n"));
  EXPECT_EQ(k(1, 0), 1);
  EXPECT_EQ(k(2, 0), 2);
  EXPECT_EQ(k(2, 1), 3);
  EXPECT_EQ(k(1, 2), -3);
  EXPECT_EQ(k(0, 1), -1);
  EXPECT_EQ(k(1, 1), 0);
  const auto h = read_matrix<z>(
      file("%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n2 1 1 2\n2 2 5 0\n"));
  EXPECT_EQ(h(1, 0), z(1, 2));
  EXPECT_EQ(h(0, 1), z(1, -2));
  EXPECT_EQ(h(1, 1), z(5));
  const auto p = read_matrix<double>(
      file("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n2 1\n1 1\n"));
  EXPECT_EQ(p(0, 1), 1);
  EXPECT_EQ(p(1, 0), 1);
  EXPECT_EQ(p(0, 0), 1);
  EXPECT_EQ(p(1, 1), 0);
}

TEST_F(market_files, adds_entries_listed_twice) {
  const auto a = read_matrix<double>(
      file("%%MatrixMarket matrix coordinate real general\n1 1 2\n1 1 2\n1 1 3\n"));
  EXPECT_EQ(a(0, 0), 5);
}

TEST_F(market_files, reads_numbers_at_the_ends_of_their_range) {
  const std::string head = "%%MatrixMarket matrix array real general\n9 1\n";
  const std::string path = file(head +
                                "4.9406564584124654e-324\n1.7976931348623157e308\n1e-999\n-1e-400\n"
                                "inf\n-Infinity\nNaN\n1e300\n-0\n");
  const auto a = read_matrix<double>(path);
  EXPECT_EQ(a(0, 0), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(a(1, 0), std::numeric_limits<double>::max());
  EXPECT_EQ(a(2, 0), 0);
  EXPECT_TRUE(a(3, 0) == 0 && std::signbit(a(3, 0)));
  EXPECT_EQ(a(4, 0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(a(5, 0), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(a(6, 0)));
  EXPECT_TRUE(std::signbit(a(8, 0)));
  const auto f = read_matrix<float>(path);
  EXPECT_EQ(f(0, 0), 0);
  EXPECT_EQ(f(7, 0), std::numeric_limits<float>::infinity());
  expect_error("%%MatrixMarket matrix array real general\n1 1\n-1e999\n", fault::malformed,
               "line 3: '-1e999' is too large for a double");
}

TEST_F(market_files, complex_elements_are_real_if_no_imaginary_part_is_left) {
  const std::string head = "%%MatrixMarket matrix array complex general\n2 1\n1 0\n";
  EXPECT_EQ(read_matrix<double>(file(head + "2 -0.0\n"))(1, 0), 2);
  expect_error(head + "2 1e-9\n", fault::not_real, "line 4: an imaginary part; read it as complex");
}

TEST_F(market_files, names_the_line_that_is_wrong) {
  const std::string head = "%%MatrixMarket matrix coordinate real general\n%\n2 3 2\n";
  const auto refuse = [&](const std::string& lines, std::string_view text) {
    expect_error(head + lines, fault::malformed, text);
  };
  refuse("1 1 1\n1 1 1.5x\n", "line 5: '1.5x' is not a number");
  refuse("1 1 one\n2 2 2 2\n", "line 4: 'one' is not a number");
  refuse("1 1 +-1\n2 2 2 2\n", "line 4: '+-1' is not a number");
  refuse("1 1 \x1b[31m\n2 2 2 2\n", "line 4: '?[31m' is not a number");
  refuse("1 1\n2 2 2 2 2 2\n", "line 4: a number is missing");
  refuse("1 1 1 1\n2 2 2 2\n", "line 4: '1' follows what belongs on this line");
  refuse("3 1 1\n2 2 2 2\n", "line 4: row 3 of a matrix with 2");
  refuse("1 4 1\n2 2 2 2\n", "line 4: column 4 of a matrix with 3");
  refuse("0 1 1\n2 2 2 2\n", "line 4: row 0 of a matrix with 2 (they are counted from 1)");
  refuse("-1 1 1\n2 2 2 2\n", "line 4: '-1' is not a whole number from 0");
  refuse("99999999999999999999 1 1\n", "has more than 64 bits");
  refuse("1 1 1\n2 2 2\n\n1 1 1\n", "line 7: more than the 2 entries");
  refuse("1 1 1\n2 2 " + std::string(1 << 21, '1'), "line 5: the line is longer than 1 MiB");
  expect_error("%%MatrixMarket matrix array integer general\n1 1\n1.5\n", fault::malformed,
               "line 3: '1.5' is not a whole number");
}

TEST_F(market_files, refuses_entries_that_break_a_symmetry) {
  const auto refuse = [&](const std::string& text, std::string_view why) {
    expect_error<z>("%%MatrixMarket matrix " + text, fault::malformed, why);
  };
  refuse("coordinate real symmetric\n2 2 1\n1 2 1\n", "line 3: (1, 2) is above the diagonal");
  refuse("coordinate real skew-symmetric\n2 2 1\n1 1 1\n", "line 3: the diagonal");
  refuse("coordinate complex hermitian\n2 2 1\n1 1 1 1\n", "line 3: the diagonal");
  refuse("array complex hermitian\n1 1\n1 1\n", "line 3: the diagonal");
  refuse("array real symmetric\n2 1\n1\n1\n", "line 2: 2 x 1, but symmetric matrices are square");
}

TEST_F(market_files, refuses_heads_that_are_none) {
  const auto refuse = [&](const std::string& text, fault code, std::string_view why) {
    expect_error("%%MatrixMarket" + text, code, why);
  };
  refuse("", fault::malformed, "line 1: '' is none of: matrix");
  refuse(" vector array real general\n", fault::malformed, "'vector' is none of: matrix");
  refuse(" matrix dense real general\n", fault::malformed, "is none of: array coordinate");
  refuse(" matrix array quaternion general\n", fault::malformed, "real integer complex pattern");
  refuse(" matrix array real upper\n", fault::malformed, "'upper' is none of: general");
  refuse(" matrix array real general 1\n", fault::malformed, "'1' follows");
  refuse(" matrix array pattern general\n1 1\n", fault::malformed, "an array cannot be a pattern");
  refuse(" matrix coordinate pattern hermitian\n", fault::malformed, "general or symmetric");
  refuse(" matrix array real general\n% 1\n", fault::truncated, "before the line with its size");
  refuse(" matrix array real general\n1\n", fault::malformed, "line 2: a number is missing");
  refuse(" matrix array real general\n1 1 1\n", fault::malformed, "line 2: '1' follows");
  refuse(" matrix coordinate real general\n1 1\n", fault::malformed, "line 2: a number is missing");
}

TEST_F(market_files, refuses_sizes_that_cannot_be) {
  const auto refuse = [&](const std::string& text, std::error_code code, std::string_view why) {
    expect_error("%%MatrixMarket matrix " + text, code, why);
  };
  refuse("array real general\n2 2\n1\n2\n3\n", fault::truncated, "4 entries, at least 7 bytes");
  refuse("array real general\n2 2\n1\n2\n3.125\n", fault::truncated, "ends after 3 of 4 entries");
  refuse("array real general\n4294967296 4294967296\n1\n", fault::malformed, "cannot be addressed");
  refuse("array real symmetric\n4294967296 4294967296\n1\n", fault::malformed,
         "cannot be addressed");
  refuse("array real general\n9223372036854775807 0\n", fault::malformed, "cannot be addressed");
  refuse("array real general\n9223372036854775808 1\n", fault::malformed, "cannot be addressed");
  refuse("array real general\n100000 100000\n1\n", fault::truncated, "10000000000 entries");
  refuse("coordinate real general\n2 2 18446744073709551615\n1 1 1\n", fault::truncated, "entries");
  refuse("coordinate real general\n100000 100000 1\n1 1 1\n",
         std::make_error_code(std::errc::not_enough_memory), "100000 x 100000 elements need 8");
}

TEST_F(market_files, reads_matrices_of_no_elements) {
  const std::string head = "%%MatrixMarket matrix array real ";
  EXPECT_EQ(read_matrix<double>(file(head + "general\n0 4\n")).cols(), 4);
  EXPECT_EQ(read_matrix<double>(file(head + "symmetric\n0 0\n")).cols(), 0);
  EXPECT_EQ(read_matrix<double>(file(head + "skew-symmetric\n0 0\n")).cols(), 0);
  EXPECT_EQ(read_matrix<double>(file(head + "skew-symmetric\n1 1\n")).cols(), 1);
}

TEST_F(market_files, writes_the_fewest_digits) {
  matrix<z> a(1, 2);
  a(0, 0) = {0.1, -3};
  a(0, 1) = {1e300, 0};
  const std::string path = (folder_ / "out.mtx").string();
  write_matrix<z>(path, a);
  EXPECT_EQ(content_of(path),
            "%%MatrixMarket matrix array complex general\n1 2\n0.1 -3\n1e+300 0\n");
}

}  // namespace
}  // namespace creek::linalg::testing

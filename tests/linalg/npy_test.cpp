// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy: files as NumPy 2.4 writes them, to the byte, and files that it never writes.
#include <array>
#include <bit>
#include <complex>
#include <limits>
#include <string>
#include <type_traits>

#include "matrix_files.hpp"

namespace creek::linalg::testing {
namespace {

using namespace std::string_literals;
using fault = matrix_file_fault;
using npy_files = matrix_files;

// numpy.save of [[1, 2, 3], [-4.5, 5, 6]], whole.
const std::string saved =
    "\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }"
    "                                                          \n"
    "\x00\x00\x00\x00\x00\x00\xf0?\x00\x00\x00\x00\x00\x00\x00@\x00\x00\x00\x00\x00\x00\x08@"
    "\x00\x00\x00\x00\x00\x00\x12\xc0\x00\x00\x00\x00\x00\x00\x14@\x00\x00\x00\x00\x00\x00\x18@"s;

template <class T>
void expect_elements(const matrix<T>& a,
                     std::initializer_list<std::initializer_list<std::type_identity_t<T>>> rows) {
  ASSERT_EQ(a.rows(), static_cast<index_t>(rows.size()));
  index_t i = 0;
  for (const auto& row : rows) {
    ASSERT_EQ(a.cols(), static_cast<index_t>(row.size()));
    index_t j = 0;
    for (const T& element : row) EXPECT_EQ(a(i, j++), element) << i << ", " << j;
    ++i;
  }
}

TEST_F(npy_files, reads_what_numpy_saves) {
  expect_elements(read_matrix<double>(file(saved)), {{1, 2, 3}, {-4.5, 5, 6}});
  expect_elements(read_matrix<float>(file(saved)), {{1, 2, 3}, {-4.5, 5, 6}});
  expect_elements<std::complex<float>>(read_matrix<std::complex<float>>(file(saved)),
                                       {{1, 2, 3}, {-4.5, 5, 6}});
}

TEST_F(npy_files, says_what_is_in_a_file_by_its_head) {
  const matrix_file_info info = inspect_matrix_file(file(saved));
  EXPECT_EQ(info.format, matrix_format::npy);
  EXPECT_EQ(info.type, element_type::d);
  EXPECT_EQ(info.rows, 2);
  EXPECT_EQ(info.cols, 3);
  EXPECT_EQ(info.entries, 6u);
  EXPECT_EQ(info.description, "NumPy 1.0, '<f8', by rows");
  const auto type_of = [&](const std::string& descr, std::size_t bytes) {
    return inspect_matrix_file(
               file(npy_file(1, npy_head(descr, true, "(1, 1)"), std::string(bytes, '\0'))))
        .type;
  };
  EXPECT_EQ(type_of("<f4", 4), element_type::s);
  EXPECT_EQ(type_of(">c8", 8), element_type::c);
  EXPECT_EQ(type_of("<c16", 16), element_type::z);
  EXPECT_EQ(type_of("|u1", 1), element_type::d);
}

TEST_F(npy_files, reads_columns_and_the_other_byte_order) {
  // numpy.asfortranarray([[1+2j, 3], [0, -1j]]).astype('>c8')
  const auto elements =
      "?\x80\x00\x00@\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00@@\x00\x00\x00\x00\x00\x00"
      "\x80\x00\x00\x00\xbf\x80\x00\x00"s;
  const std::string path = file(npy_file(1, npy_head(">c8", true, "(2, 2)"), elements));
  using c = std::complex<float>;
  expect_elements<c>(read_matrix<c>(path), {{c(1, 2), c(3)}, {c(0), c(0, -1)}});
  using z = std::complex<double>;
  expect_elements<z>(read_matrix<z>(path), {{z(1, 2), z(3)}, {z(0), z(0, -1)}});
}

TEST_F(npy_files, reads_vectors_scalars_and_every_version) {
  expect_elements(
      read_matrix<double>(file(npy_file(2, npy_head("<i2", false, "(2,)"), "\xff\xff,\x01"))),
      {{-1.}, {300.}});
  expect_elements(
      read_matrix<float>(file(npy_file(3, npy_head("|b1", false, "(1, 2)"), "\x01\x00"s))),
      {{1.f, 0.f}});
  expect_elements(read_matrix<double>(file(npy_file(1, npy_head("|i1", false, "()"), "\x07"))),
                  {{7.}});
}

TEST_F(npy_files, converts_whole_numbers) {
  const auto one = [&](const std::string& descr, std::string_view bytes) {
    return read_matrix<double>(file(npy_file(1, npy_head(descr, false, "(1, 1)"), bytes)))(0, 0);
  };
  EXPECT_EQ(one("|i1", "\x80"), -128);
  EXPECT_EQ(one("|u1", "\x80"), 128);
  EXPECT_EQ(one(">i2", "\x80\x01"), -32767);
  EXPECT_EQ(one("<u2", "\x01\x80"), 32769);
  EXPECT_EQ(one("<i4", "\xfe\xff\xff\xff"), -2);
  EXPECT_EQ(one(">u4", "\xff\xff\xff\xfe"), 4294967294.);
  EXPECT_EQ(one("<i8", "\xfd\xff\xff\xff\xff\xff\xff\xff"), -3);
  EXPECT_EQ(one(">u8", "\x80\x00\x00\x00\x00\x00\x00\x00"s), 0x1p63);
  EXPECT_EQ(one(">f4", "\xbf\x80\x00\x00"s), -1);
}

TEST_F(npy_files, reads_matrices_of_no_elements) {
  for (const bool fortran : {false, true}) {
    const auto a = read_matrix<double>(file(npy_file(1, npy_head("<f4", fortran, "(0, 3)"), "")));
    EXPECT_EQ(a.rows(), 0);
    EXPECT_EQ(a.cols(), 3);
    const auto b = read_matrix<double>(file(npy_file(1, npy_head("<f4", fortran, "(5, 0)"), "")));
    EXPECT_EQ(b.rows(), 5);
    EXPECT_EQ(b.cols(), 0);
  }
}

TEST_F(npy_files, reads_heads_that_other_programs_write) {
  const auto a = read_matrix<double>(
      file(npy_file(1, "{\"shape\" : ( 1L , 1 ),'fortran_order':True , \"descr\":'<f8'}",
                    saved.substr(saved.size() - 8))));
  EXPECT_EQ(a(0, 0), 6);
}

TEST_F(npy_files, complex_elements_are_real_if_no_imaginary_part_is_left) {
  const auto complex_of = [](double re, double im) {
    const auto bytes = std::bit_cast<std::array<char, 16>>(std::array{re, im});
    return std::string(bytes.begin(), bytes.end());
  };
  const std::string head = npy_head("=c16", false, "(1, 2)");
  const auto a =
      read_matrix<double>(file(npy_file(1, head, complex_of(2, 0) + complex_of(3, -0.))));
  expect_elements(a, {{2., 3.}});
  for (const double im : {1e-300, std::numeric_limits<double>::quiet_NaN()}) {
    expect_error(npy_file(1, head, complex_of(2, 0) + complex_of(3, im)), fault::not_real,
                 "element (0, 1) has an imaginary part; read it as complex");
  }
}

// Has more elements than fit into one portion, and rows longer than a portion.
TEST_F(npy_files, reads_large_files_of_either_order) {
  for (const auto& [rows, cols] :
       {std::pair<index_t, index_t>{700, 411}, {2, 300'001}, {300'001, 2}}) {
    for (const bool fortran : {false, true}) {
      std::string elements;
      for (index_t k = 0; k < rows * cols; ++k) {
        const index_t value = fortran ? k / rows * 7 + k % rows * 11 : k % cols * 7 + k / cols * 11;
        const auto bytes = std::bit_cast<std::array<char, 4>>(static_cast<std::int32_t>(value));
        elements.append(bytes.data(), bytes.size());
      }
      const std::string shape = "(" + std::to_string(rows) + ", " + std::to_string(cols) + ")";
      const auto a =
          read_matrix<double>(file(npy_file(1, npy_head("=i4", fortran, shape), elements)));
      ASSERT_EQ(a.rows(), rows);
      index_t wrong = 0;
      for (index_t j = 0; j < cols; ++j) {
        for (index_t i = 0; i < rows; ++i) wrong += a(i, j) != static_cast<double>(j * 7 + i * 11);
      }
      EXPECT_EQ(wrong, 0);
    }
  }
}

TEST_F(npy_files, refuses_files_that_end_early_or_late) {
  for (const std::size_t bytes : {7u, 9u, 50u, 127u}) {
    expect_error(saved.substr(0, bytes), fault::truncated, "ends inside its header");
  }
  expect_error(saved.substr(0, 130), fault::truncated,
               "promises 6 entries, at least 48 bytes, and 2");
  expect_error(saved + "x", fault::malformed, "bytes follow the last element");
}

TEST_F(npy_files, refuses_shapes_that_cannot_be) {
  const auto refuse = [&](const std::string& shape, std::error_code code, std::string_view text) {
    expect_error(npy_file(1, npy_head("<f8", false, shape), "12345678"), code, text);
  };
  refuse("(4294967296, 4294967296)", fault::malformed, "cannot be addressed");
  refuse("(9223372036854775807, 0)", fault::malformed, "cannot be addressed");
  refuse("(0, 9223372036854775807)", fault::malformed, "cannot be addressed");
  refuse("(9223372036854775808, 1)", fault::malformed, "cannot be addressed");
  refuse("(99999999999999999999, 1)", fault::malformed, "more than 64 bits");
  refuse("(1000000, 1000000)", fault::truncated, "8000000000000 bytes, and 8 follow");
  refuse("(-1, 1)", fault::malformed, "no number at '-1, 1)");
  refuse("(1, 1, 1)", fault::unsupported, "an array of 3 dimensions");
  refuse("(0, 1000000000)", std::make_error_code(std::errc::not_enough_memory), "need");
}

TEST_F(npy_files, refuses_heads_that_are_none) {
  const auto refuse = [&](const std::string& head, std::error_code code, std::string_view text) {
    expect_error(npy_file(1, head, "12345678"), code, text);
  };
  refuse("", fault::malformed, "no {");
  refuse("{'descr': '<f8'}", fault::malformed, "is missing");
  refuse("{'descr': '<f8', 'descr': '<f8'}", fault::malformed, "twice");
  refuse("{'colour': 1}", fault::malformed, "unknown key 'colour'");
  refuse("{'descr': '<f8', 'fortran_order': 1}", fault::malformed, "neither True nor False");
  refuse(npy_head("<f8", true, "(1, 1)") + "}", fault::malformed, "after the dictionary");
  refuse("{'descr': [('x', '<f8')]}", fault::malformed, "several fields");
  refuse("{'descr': '<f8", fault::malformed, "without an end");
  for (const char* descr : {"<f2", "<f16", "|O", "<U8", "", "<", "f", "<M8[ns]", "<i16"}) {
    refuse(npy_head(descr, true, "(1, 1)"), fault::unsupported, "astype");
  }
  expect_error("\x93NUMPY\x04\x00"s + std::string(20, 'x'), fault::unsupported, "version 4.0");
  expect_error("\x93NUMPY\x02\x00\xff\xff\xff\xff"s, fault::malformed,
               "a head of 4294967295 bytes");
}

TEST_F(npy_files, writes_what_numpy_loads) {
  matrix<double> a(2, 1);
  a(0, 0) = 1;
  a(1, 0) = -4.5;
  const std::string path = (folder_ / "out.npy").string();
  write_matrix<double>(path, a);
  const std::string order = std::endian::native == std::endian::little ? "<" : ">";
  const auto bytes = std::bit_cast<std::array<char, 16>>(std::array{1., -4.5});
  EXPECT_EQ(content_of(path),
            npy_file(1, npy_head(order + "f8", true, "(2, 1)"), {bytes.data(), bytes.size()}));
}

}  // namespace
}  // namespace creek::linalg::testing

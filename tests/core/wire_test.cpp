// SPDX-License-Identifier: Apache-2.0
// Byte forms by functions `serialize`, and bytes that are not what they should be.
#include <creek/core/messages/wire.hpp>

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/core/messages/wire_archives.hpp>

#ifdef CREEK_TEST_BOOST
#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <boost/serialization/split_member.hpp>
#endif
#ifdef CREEK_TEST_CEREAL
#include <cereal/archives/binary.hpp>
#include <cereal/types/memory.hpp>
#endif

namespace forms {

struct by_member {
  std::string name;
  std::optional<std::vector<double>> sizes;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(name, sizes);
  }
  bool operator==(const by_member&) const = default;
};

struct by_versioned_member {
  int x = 0;
  std::string text;
  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& x& text;
  }
  bool operator==(const by_versioned_member&) const = default;
};

/// Its bytes would do, but only a part of them is its value.
struct by_function {
  int kept = 0, not_sent = 0;
  bool operator==(const by_function&) const = default;
};
template <class Archive>
void serialize(Archive& archive, by_function& object) {
  if constexpr (Archive::is_loading::value) object.not_sent = -1;
  archive(object.kept);
}

struct by_versioned_function {
  std::map<int, by_member> all;
  bool operator==(const by_versioned_function&) const = default;
};
template <class Archive>
void serialize(Archive& archive, by_versioned_function& object, unsigned) {
  archive& object.all;
}

#ifdef CREEK_TEST_BOOST
/// Only Boost's archives can write it: by save() and load().
class for_boost {
 public:
  for_boost() = default;
  explicit for_boost(int value) : value_(std::make_unique<int>(value)) {}
  [[nodiscard]] int value() const { return *value_; }

 private:
  friend class boost::serialization::access;
  template <class Archive>
  void save(Archive& archive, unsigned) const {
    const int value = *value_;
    archive << value;
  }
  template <class Archive>
  void load(Archive& archive, unsigned) {
    int value = 0;
    archive >> value;
    value_ = std::make_unique<int>(value);
  }
  BOOST_SERIALIZATION_SPLIT_MEMBER()
  std::unique_ptr<int> value_;
};
#endif

}  // namespace forms

#ifdef CREEK_TEST_BOOST
template <>
struct creek::wire<forms::for_boost>
    : creek::wire_by_archives<forms::for_boost, boost::archive::binary_oarchive,
                              boost::archive::binary_iarchive> {};
#endif
#ifdef CREEK_TEST_CEREAL
template <>
struct creek::wire<std::unique_ptr<int>>
    : creek::wire_by_archives<std::unique_ptr<int>, cereal::BinaryOutputArchive,
                              cereal::BinaryInputArchive> {};
#endif

namespace creek {
namespace {

using namespace forms;

template <class T>
std::vector<std::byte> bytes_of(const T& object) {
  std::vector<std::byte> made;
  wire<T>::put(made, object);
  return made;
}

/// Reads all, and none that lacks its last bytes.
template <class T>
void expect_same(const T& object, const T& expected) {
  const std::vector<std::byte> bytes = bytes_of(object);
  byte_reader all(bytes);
  EXPECT_EQ(wire<T>::get(all), expected);
  EXPECT_EQ(all.left(), 0u);
  const std::byte* at = bytes.data();
  EXPECT_EQ(wire<T>::get(at), expected);
  EXPECT_EQ(at, bytes.data() + bytes.size());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    // Memory of this size, so that AddressSanitizer sees what is read beyond it.
    const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<long>(size));
    byte_reader some(cut);
    EXPECT_THROW((void)wire<T>::get(some), error) << size << " of " << bytes.size();
  }
}
template <class T>
void expect_same(const T& object) {
  expect_same(object, object);
}

TEST(WireForms, ByAFunctionSerialize) {
  const by_member one{"one", {{1.5, 2}}}, none{"", {}};
  expect_same(one);
  expect_same(none);
  expect_same(by_versioned_member{7, "seven"});
  expect_same(by_function{3, 4}, by_function{3, -1});
  EXPECT_EQ(bytes_of(by_function{3, 4}).size(), sizeof(int));
  expect_same(by_versioned_function{{{1, one}, {2, none}}});
  expect_same(std::vector{one, none, one});
  expect_same(std::pair(one, std::optional(by_function{3, -1})));
}

/// A container that cannot insert a range.
struct few_functions : private std::vector<int> {
  using base = std::vector<int>;
  using base::begin, base::end, base::size, base::data, base::push_back;
  using typename base::value_type, typename base::iterator, typename base::const_iterator;
  few_functions() = default;
  explicit few_functions(std::size_t count) : base(count) {}
  few_functions(const int* from, const int* to) : base(from, to) {}
  iterator insert(const_iterator at, int value) { return base::insert(at, value); }
  bool operator==(const few_functions&) const = default;
};

TEST(WireForms, AreThoseOfContainersWithFewFunctions) {
  few_functions many;
  for (int i = 0; i < 5000; ++i) many.push_back(i);
  const std::vector<std::byte> bytes = bytes_of(many);
  const std::byte* at = bytes.data();
  EXPECT_EQ(wire<few_functions>::get(at), many);
}

TEST(WireForms, OfWhatIsCutOffAreErrors) {
  expect_same(std::string("text"));
  expect_same(std::optional<std::string>("text"));
  expect_same(std::vector<int>{1, 2, 3});
  expect_same(std::vector<bool>{true, false, true});
  expect_same(std::array<char, 5>{'a', 'b'});
  expect_same(std::array<std::string, 2>{"a", "bc"});
  expect_same(std::map<std::string, std::vector<short>>{{"k", {1, 2}}, {"", {}}});
  expect_same(std::variant<int, std::string>("text"));
}

/// Lengths and numbers that a sender of good will does not write.
TEST(WireForms, OfMalformedBytesAreErrors) {
  const std::vector<std::byte> ones(16, std::byte{0xff});
  const auto expect_error = [&]<class T>(std::type_identity<T>) {
    byte_reader from(ones);
    EXPECT_THROW((void)wire<T>::get(from), error);
  };
  expect_error(std::type_identity<std::string>{});
  expect_error(std::type_identity<std::vector<double>>{});
  expect_error(std::type_identity<std::vector<std::string>>{});
  expect_error(std::type_identity<std::map<int, int>>{});
  expect_error(std::type_identity<std::variant<int, char>>{});
  byte_reader from(ones);
  EXPECT_TRUE(wire<bool>::get(from));  // not a bool of value 255
}

#ifdef CREEK_TEST_BOOST
TEST(WireForms, ByArchivesOfBoost) {
  std::vector<std::byte> made;
  wire<for_boost>::put(made, for_boost(42));
  wire<int>::put(made, 7);
  byte_reader from(made);
  EXPECT_EQ(wire<for_boost>::get(from).value(), 42);
  EXPECT_EQ(wire<int>::get(from), 7);
}
#endif

#ifdef CREEK_TEST_CEREAL
TEST(WireForms, ByArchivesOfCereal) {
  std::vector<std::byte> made;
  wire<std::unique_ptr<int>>::put(made, std::make_unique<int>(42));
  wire<std::unique_ptr<int>>::put(made, nullptr);
  byte_reader from(made);
  EXPECT_EQ(*wire<std::unique_ptr<int>>::get(from), 42);
  EXPECT_EQ(wire<std::unique_ptr<int>>::get(from), nullptr);
  EXPECT_EQ(from.left(), 0u);
}

/// A function for cereal is one for creek.
TEST(WireForms, AreThoseOfCereal) {
  std::ostringstream stream;
  const by_function one{5, 6};
  cereal::BinaryOutputArchive archive(stream);
  archive(one);
  EXPECT_EQ(stream.view().size(), sizeof(int));
}
#endif

}  // namespace
}  // namespace creek

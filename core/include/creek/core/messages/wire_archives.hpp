// SPDX-License-Identifier: Apache-2.0
// The byte form of types that another library serializes, through its archives over streams.
#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <creek/core/messages/wire.hpp>

namespace creek {

/// Byte form by archives of Boost.Serialization or cereal, which write by `<<` and read by `>>`:
///
///     template <> struct creek::wire<my_type>
///         : creek::wire_by_archives<my_type, boost::archive::binary_oarchive,
///                                   boost::archive::binary_iarchive> {};
///
/// With cereal: cereal::BinaryOutputArchive, cereal::BinaryInputArchive. Slower than a form of
/// creek's own: each object is copied through a stream.
template <class T, class OutputArchive, class InputArchive>
struct wire_by_archives {
  static void put(std::vector<std::byte>& to, const T& object) {
    std::ostringstream stream(std::ios::binary);
    {
      OutputArchive archive(stream);
      archive << object;
    }
    wire<std::string_view>::put(to, stream.view());
  }
  template <class Cursor>
  static T get(Cursor& at) {
    std::istringstream stream(wire<std::string>::get(at), std::ios::binary);
    InputArchive archive(stream);
    T object{};
    archive >> object;
    return object;
  }
};

}  // namespace creek

// SPDX-License-Identifier: Apache-2.0
#include "call_failure.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include <creek/core/error.hpp>
#include <creek/core/objects/call_error.hpp>

namespace creek::detail {
namespace {

enum class failure_kind : std::uint8_t { usage, system, other };

}  // namespace

void put_failure(std::vector<std::byte>& to) {
  const auto put = [&](failure_kind kind, int code, std::string_view text) {
    wire<failure_kind>::put(to, kind);
    wire<int>::put(to, code);
    wire<std::string_view>::put(to, text);
  };
  try {
    throw;
  } catch (const usage_error& why) {
    put(failure_kind::usage, 0, why.what());
  } catch (const std::system_error& why) {
    // The receiver's exception appends the text of the code again.
    std::string_view text = why.what();
    const std::string code = ": " + why.code().message();
    if (text.ends_with(code)) text.remove_suffix(code.size());
    const bool has_errno = why.code().category() == std::generic_category() ||
                           why.code().category() == std::system_category();
    if (has_errno) return put(failure_kind::system, why.code().value(), text);
    put(failure_kind::other, 0, why.what());
  } catch (const std::exception& why) {
    put(failure_kind::other, 0, why.what());
  } catch (...) {
    put(failure_kind::other, 0, "an exception that is no std::exception");
  }
}

std::exception_ptr get_failure(byte_reader& from) {
  const auto kind = wire<failure_kind>::get(from);
  const int code = wire<int>::get(from);
  const auto text = wire<std::string>::get(from);
  if (kind == failure_kind::usage) return std::make_exception_ptr(usage_error(text));
  if (kind == failure_kind::system) return std::make_exception_ptr(error(code, text));
  return std::make_exception_ptr(call_error(text));
}

}  // namespace creek::detail

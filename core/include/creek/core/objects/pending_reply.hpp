// SPDX-License-Identifier: Apache-2.0
// Results of calls on other ranks, before and after they have arrived.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <creek/core/messages/wire.hpp>
#include <creek/core/objects/call_blocks.hpp>

namespace creek::detail {

class call_service;

/// The result of one call, which the rank that made the call waits for.
class pending_reply {
 public:
  pending_reply() = default;
  pending_reply(const pending_reply&) = delete;
  pending_reply& operator=(const pending_reply&) = delete;
  virtual ~pending_reply();
  [[nodiscard]] bool is_done() const noexcept { return is_done_; }

 protected:
  void rethrow_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  friend class call_service;
  virtual void read(byte_reader& from) = 0;
  /// Reads a result whose blocks have not arrived, into a value of its own: the reply may be
  /// dropped before they have.
  virtual std::unique_ptr<arriving_values> prepare(byte_reader& from, const block_sizes& sizes) = 0;
  virtual void take_prepared(arriving_values& prepared) = 0;

  call_service* service_ = nullptr;  ///< while the reply is expected
  std::uint32_t slot_ = 0;
  bool is_done_ = false;
  std::exception_ptr failure_;
};

template <class R>
class reply_of final : public pending_reply {
 public:
  R take() {
    rethrow_failure();
    return std::move(*value_);
  }

 private:
  struct arriving final : arriving_values {
    explicit arriving(block_value_reader from) : value(from.template get<R>()) {
      from.add_block(value, blocks);
    }
    R value;
  };

  void read(byte_reader& from) override { value_.emplace(wire<R>::get(from)); }
  std::unique_ptr<arriving_values> prepare(byte_reader& from, const block_sizes& sizes) override {
    return std::make_unique<arriving>(block_value_reader(from, sizes));
  }
  void take_prepared(arriving_values& prepared) override {
    value_.emplace(std::move(static_cast<arriving&>(prepared).value));
  }
  std::optional<R> value_;
};
template <>
class reply_of<void> final : public pending_reply {
 public:
  void take() { rethrow_failure(); }

 private:
  void read(byte_reader&) override {}
  std::unique_ptr<arriving_values> prepare(byte_reader&, const block_sizes&) override {
    return std::make_unique<arriving_values>();
  }
  void take_prepared(arriving_values&) override {}
};

}  // namespace creek::detail

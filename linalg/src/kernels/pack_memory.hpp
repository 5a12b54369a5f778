// SPDX-License-Identifier: Apache-2.0
// Memory for packed operands, some of which is kept for reuse when it is released.
#pragma once

#include <cstddef>

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

struct pack_block {
  void* data = nullptr;
  std::size_t bytes = 0;
};

/// Uninitialised block of memory, aligned to pages if large. A few released blocks are kept, as
/// fresh pages cost as much as the packing: small ones per thread, large ones per process. A block
/// may be released on another thread than it was allocated on.
class pack_memory {
 public:
  /// Throws std::bad_alloc.
  explicit pack_memory(std::size_t bytes);
  ~pack_memory();
  pack_memory(const pack_memory&) = delete;
  pack_memory& operator=(const pack_memory&) = delete;

  template <class R>
  R* as() const noexcept {
    return static_cast<R*>(block_.data);
  }

 private:
  pack_block block_;
};

/// Memory for `count` elements.
template <class R>
class pack_array {
 public:
  explicit pack_array(index_t count) : memory_(static_cast<std::size_t>(count) * sizeof(R)) {}
  R* data() const noexcept { return memory_.as<R>(); }

 private:
  pack_memory memory_;
};

}  // namespace creek::linalg::detail

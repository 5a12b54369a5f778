// SPDX-License-Identifier: Apache-2.0
// Memory for packed operands, some of which is kept when it is given back.
#pragma once

#include <cstddef>

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

struct pack_block {
  void* data = nullptr;
  std::size_t bytes = 0;
};

/// A block of memory without contents, aligned to pages where it is large. A few of those that
/// were released are kept, as fresh pages cost as much as the packing: small ones by each thread,
/// large ones by the process. Taken on one thread and released on another is fine.
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

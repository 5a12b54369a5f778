// SPDX-License-Identifier: Apache-2.0
// Objects that are passed by pointer and destroyed on the worker that made them: an argument or a
// result too large to move, or whose memory belongs to one worker.
// Source: "foreign" arguments of TACO [Rotta 2012].
#pragma once

#include <memory>
#include <utility>

#include <creek/core/core_id.hpp>
#include <creek/tasking/detail/closure_message.hpp>

namespace creek {

/// The one owner of an object that was made on a worker, its home. Moved like a unique_ptr, to
/// wherever the object is to be used, and destroyed by any thread; the object is destroyed at home:
/// at once if that is here, else by a message (if home's ring is full, the dropping thread waits
/// for room). On tbb, where a worker is just a number, a task destroys the object.
///
/// An object may outlive its runtime. Dropping the owner then destroys the object on the calling
/// thread; it must not be dropped while the runtime ends, except in a task of that runtime. In a
/// child of fork() the object leaks: its home is in the parent.
template <class T>
class foreign {
 public:
  using element_type = T;

  foreign() = default;
  foreign(foreign&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)),
        cell_(std::exchange(other.cell_, nullptr)) {}
  foreign& operator=(foreign other) noexcept {
    std::swap(object_, other.object_);
    std::swap(cell_, other.cell_);
    return *this;
  }
  ~foreign() {
    if (cell_ != nullptr) cell_->let_go_of_object();
  }

  explicit operator bool() const noexcept { return object_ != nullptr; }
  T* get() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_; }
  /// Returns the object's home. There must be an object.
  core_id core() const noexcept { return core_id{static_cast<int>(cell_->place().worker)}; }
  /// Drops the object, which is then destroyed at home.
  void reset() noexcept { *this = foreign{}; }

 private:
  template <class U>
  friend foreign<U> adopt_foreign(std::unique_ptr<U> object);

  T* object_ = nullptr;
  detail::remote_cell* cell_ = nullptr;
};

/// Makes the calling worker the home of `object`. Throws usage_error outside of any runtime.
template <class T>
foreign<T> adopt_foreign(std::unique_ptr<T> object) {
  foreign<T> made;
  if (object == nullptr) return made;
  made.cell_ =
      detail::adopted_cell(object.get(), [](void* gone) noexcept { delete static_cast<T*>(gone); });
  made.object_ = object.release();
  return made;
}

/// Makes a T(arguments...) whose home is the calling worker. Throws usage_error outside of any
/// runtime; rethrows what the constructor throws.
template <class T, class... Arguments>
foreign<T> make_foreign(Arguments&&... arguments) {
  static_assert(std::is_constructible_v<T, Arguments...>,
                "make_foreign<T>: T has no constructor for these arguments");
  return adopt_foreign(std::make_unique<T>(std::forward<Arguments>(arguments)...));
}

}  // namespace creek

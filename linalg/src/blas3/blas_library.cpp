// SPDX-License-Identifier: Apache-2.0
// Identifies other BLAS libraries, and calls one of them for products.
#include <creek/linalg/blas_library.hpp>

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <type_traits>

#include <creek/core/error.hpp>
#include <creek/core/shared_library.hpp>

#include "foreign_blas.hpp"

namespace creek::linalg {
namespace {

/// Loaded library, never unloaded. Some libraries put a prefix before all of their names.
class loaded {
 public:
  explicit loaded(const char* file) : library_(file) {
    if (find("dgemm_") == nullptr) prefix_ = "scipy_";
  }
  explicit operator bool() const noexcept { return bool(library_); }

  void* find(const std::string& name) const { return library_.find((prefix_ + name).c_str()); }
  template <class Function>
  Function* function(const std::string& name) const {
    return reinterpret_cast<Function*>(find(name));
  }
  /// Calls a function and returns its result, or a default value if there is no such function.
  template <class Function, class... Arguments>
  auto call(const char* name, Arguments... arguments) const {
    auto* const called = function<Function>(name);
    using result = decltype(called(arguments...));
    if constexpr (std::is_void_v<result>) {
      if (called != nullptr) called(arguments...);
    } else {
      return called == nullptr ? result{} : called(arguments...);
    }
  }
  std::string text(const char* name) const {
    const char* const found = call<const char*()>(name);
    return found == nullptr ? "" : found;
  }

 private:
  shared_library library_;
  std::string prefix_;
};

/// Returns the file that contains a function or variable, links followed.
std::optional<std::string> file_with(const void* address) {
  Dl_info where{};
  if (address == nullptr || dladdr(address, &where) == 0) return std::nullopt;
  std::error_code failed;
  const auto path = std::filesystem::canonical(where.dli_fname, failed);
  return failed ? std::string(where.dli_fname) : path.string();
}

/// Extracts the version from text such as "OpenBLAS 0.3.21 DYNAMIC_ARCH ...".
std::string openblas_version(const loaded& library) {
  const std::string all = library.text("openblas_get_config");
  const auto first = all.find(' ');
  if (first == std::string::npos) return {};
  return all.substr(first + 1, all.find(' ', first + 1) - first - 1);
}

std::string mkl_version(const loaded& library) {
  struct {  // MKLVersion of mkl_types.h
    int major, minor, update;
    const char *status, *build, *processor, *platform;
  } found{};
  library.call<void(void*)>("MKL_Get_Version", &found);
  return std::to_string(found.major) + "." + std::to_string(found.minor) + "." +
         std::to_string(found.update);
}

/// MKL has no query for it, but its first call loads a kernel library, such as libmkl_avx2.so.2.
std::string mkl_kernel(const loaded& library) {
  double x = 1;
  const int one = 1;
  library.call<void(const int*, const double*, double*, const int*)>("dscal_", &one, &x, &x, &one);
  std::string kernel;
  const auto look = [](dl_phdr_info* info, std::size_t, void* to) {
    const std::string file = std::filesystem::path(info->dlpi_name).filename();
    for (const char* name : {"avx10", "avx512", "avx2", "mc3", "def"}) {
      if (file.starts_with(std::string("libmkl_") + name + ".so")) {
        *static_cast<std::string*>(to) = name;
      }
    }
    return 0;
  };
  dl_iterate_phdr(look, &kernel);
  return kernel;
}

std::string blis_kernel(const loaded& library) {
  library.call<void()>("bli_init");  // else BLIS does not know the number
  const int number = library.call<int()>("bli_arch_query_id");
  const char* const name = library.call<const char*(int)>("bli_arch_string", number);
  return name == nullptr ? "" : name;
}

blas_library describe(const loaded& library) {
  const std::string path = file_with(library.find("dgemm_")).value_or("");
  if (library.find("openblas_get_corename") != nullptr) {
    return {"OpenBLAS", openblas_version(library), library.text("openblas_get_corename"), path};
  }
  if (library.find("MKL_Get_Version") != nullptr) {
    return {"MKL", mkl_version(library), mkl_kernel(library), path};
  }
  if (library.find("bli_arch_query_id") != nullptr) {
    return {"BLIS", library.text("bli_info_get_version_str"), blis_kernel(library), path};
  }
  return {"BLAS", "", "", path};
}

/// Returns the file names to try for a short name such as "openblas".
std::vector<const char*> files_of(const std::string& asked) {
  if (asked == "openblas") return {"libopenblas.so.0", "libopenblas.so"};
  if (asked == "mkl") return {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"};
  if (asked == "blis") return {"libblis.so.4", "libblis.so"};
  return {asked.c_str()};
}

[[noreturn]] void refuse(const std::string& asked, const std::string& why) {
  throw usage_error("CREEK_BLAS " + asked + ": " + why +
                    "; give a library's file, openblas, mkl, blis, or nothing");
}

/// Library that CREEK_BLAS names, set to run in the threads that call it.
class multiplier {
 public:
  explicit multiplier(const std::string& asked) : library_(load(asked)) {
    for (const char* name : {"sgemm_", "dgemm_", "cgemm_", "zgemm_"}) {
      if (library_.find(name) == nullptr) refuse(asked, std::string("it has no ") + name);
    }
    // creek as a drop-in library would call itself without end.
    const std::string file = file_with(library_.find("dgemm_")).value_or("");
    const bool is_creek = std::filesystem::path(file).filename().string().starts_with("libcreek");
    if (is_creek || file == file_with(&own_place)) refuse(asked, "it is creek itself");
    limit_ = library_.function<int(int)>("openblas_set_num_threads_local");
    if (limit_ == nullptr) limit_ = library_.function<int(int)>("MKL_Set_Num_Threads_Local");
    if (limit_ != nullptr) return;
    // These two libraries can only be set for the whole process.
    library_.call<void(int)>("openblas_set_num_threads", 1);
    library_.call<void(std::ptrdiff_t)>("bli_thread_set_num_threads", std::ptrdiff_t{1});
  }

  const loaded& library() const noexcept { return library_; }

  /// Restricts the library to one thread for the lifetime of this object.
  class single_thread {
   public:
    explicit single_thread(const multiplier& of) : limit_(of.limit_) {
      if (limit_ != nullptr) before_ = limit_(1);
    }
    ~single_thread() {
      if (limit_ != nullptr) limit_(before_);
    }
    single_thread(const single_thread&) = delete;
    single_thread& operator=(const single_thread&) = delete;

   private:
    int (*limit_)(int);
    int before_ = 0;
  };

 private:
  static loaded load(const std::string& asked) {
    std::string why;
    for (const char* file : files_of(asked)) {
      if (loaded library(file); library) return library;
      if (why.empty()) why = dlerror();
    }
    refuse(asked, why);
  }

  static constexpr char own_place = 0;
  loaded library_;
  int (*limit_)(int) = nullptr;
};

/// Returns the library that CREEK_BLAS names, or nullptr if it is not set.
const multiplier* chosen() {
  static const std::optional<multiplier> one = []() -> std::optional<multiplier> {
    const char* const asked = std::getenv("CREEK_BLAS");
    if (asked == nullptr || *asked == '\0') return std::nullopt;
    return std::optional<multiplier>(std::in_place, asked);
  }();
  return one ? &*one : nullptr;
}

/// Operand in the form that xGEMM takes.
struct gemm_operand {
  char how;
  index_t leading;
};
template <scalar T>
std::optional<gemm_operand> as_gemm_operand(const detail::strided<T>& a, index_t rows,
                                            index_t cols) {
  if (a.shape != detail::structure::general) return std::nullopt;
  if (a.row_step == 1 && a.col_step >= std::max<index_t>(1, rows) && !a.conjugate) {
    return gemm_operand{'N', a.col_step};
  }
  if (a.col_step == 1 && a.row_step >= std::max<index_t>(1, cols)) {
    return gemm_operand{a.conjugate ? 'C' : 'T', a.row_step};
  }
  return std::nullopt;
}

template <scalar T>
using gemm_function = void(const char*, const char*, const int*, const int*, const int*, const T*,
                           const T*, const int*, const T*, const int*, const T*, T*, const int*);

template <scalar T>
gemm_function<T>* find_gemm(const loaded& in) {
  constexpr bool wide = sizeof(real<T>) == sizeof(double);
  constexpr const char* name = is_complex<T> ? wide ? "zgemm_" : "cgemm_"
                               : wide        ? "dgemm_"
                                             : "sgemm_";
  return in.function<gemm_function<T>>(name);
}

}  // namespace

template <scalar T>
bool detail::is_done_elsewhere(const strided<T>& a, const strided<T>& b, index_t depth,
                               const matrix_view<T>& c) {
  if (chosen() == nullptr) return false;
  const auto left = as_gemm_operand(a, c.rows(), depth);
  const auto right = as_gemm_operand(b, depth, c.cols());
  if (!left || !right) return false;
  return std::max({c.rows(), c.cols(), depth, left->leading, right->leading, c.leading()}) <=
         INT_MAX;
}

template <scalar T>
void detail::multiply_add_elsewhere(T alpha, const strided<T>& a, const strided<T>& b,
                                    index_t depth, matrix_view<T> c) {
  const multiplier& by = *chosen();
  static gemm_function<T>* const gemm = find_gemm<T>(by.library());
  const gemm_operand left = *as_gemm_operand(a, c.rows(), depth);
  const gemm_operand right = *as_gemm_operand(b, depth, c.cols());
  const auto integer = [](index_t n) { return static_cast<int>(n); };
  const int m = integer(c.rows()), n = integer(c.cols()), k = integer(depth);
  const int lda = integer(left.leading), ldb = integer(right.leading), ldc = integer(c.leading());
  const T one{1};
  const multiplier::single_thread alone(by);
  gemm(&left.how, &right.how, &m, &n, &k, &alpha, a.data, &lda, b.data, &ldb, &one, c.data(), &ldc);
}

std::vector<blas_library> other_blas_libraries() {
  std::vector<blas_library> found;
  for (const char* name :
       {"libopenblas.so.0", "libmkl_rt.so.3", "libmkl_rt.so.2", "libblis.so.4", "libblas.so.3"}) {
    const loaded library(name);
    if (!library) continue;
    const auto path = file_with(library.find("dgemm_"));
    const auto is_there = [&](const blas_library& other) { return other.path == *path; };
    if (!path || std::any_of(found.begin(), found.end(), is_there)) continue;
    // Without this, MKL ends a process that lacks the OpenMP library of its threads.
    library.call<int(int)>("MKL_Set_Threading_Layer", 1);
    found.push_back(describe(library));
  }
  return found;
}

std::optional<blas_library> blas_in_use() {
  const multiplier* const by = chosen();
  return by == nullptr ? std::nullopt : std::optional(describe(by->library()));
}

#define CREEK_INSTANTIATE(letter, T)                                                        \
  template bool detail::is_done_elsewhere<T>(const strided<T>&, const strided<T>&, index_t, \
                                             const matrix_view<T>&);                        \
  template void detail::multiply_add_elsewhere<T>(T, const strided<T>&, const strided<T>&,  \
                                                  index_t, matrix_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg

// SPDX-License-Identifier: Apache-2.0
// The table of calls of one implementation of MPI, compiled once with the header of each.
#include <mpi.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <memory>

#include <creek/mpi/calls.hpp>

#ifdef MPICH_VERSION
#include "mpich_finalise.hpp"
#endif

namespace creek::mpi_backend {
namespace {

static_assert(sizeof(MPI_Request) <= sizeof(request_handle));

MPI_Comm comm_of(void* communicator) noexcept {
  return *static_cast<MPI_Comm*>(communicator);
}
MPI_Request load(const request_handle& from) noexcept {
  MPI_Request request;
  std::memcpy(&request, from.memory, sizeof request);
  return request;
}
void store(MPI_Request request, request_handle& to) noexcept {
  std::memcpy(to.memory, &request, sizeof request);
}
/// Stores the request that `with(MPI_Request*)` begins, and returns its code.
template <class With>
int begin(request_handle* begun, With&& with) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = with(&request);
  store(request, *begun);
  return code;
}
int finalise() {
#ifdef MPICH_VERSION
  return finalise_mpich();
#else
  return MPI_Finalize();
#endif
}
/// Returns what MPI_Initialized or MPI_Finalized says.
bool says(int (*ask)(int*)) noexcept {
  int answer = 0;
  ask(&answer);
  return answer != 0;
}
void copy_text(const char* text, char* to, std::size_t room) noexcept {
  const std::size_t size = std::min(std::strlen(text), room - 1);
  std::memcpy(to, text, size);
  to[size] = '\0';
}

/// A number of bytes as a count of a type: counts of MPI 3 are of type int.
class byte_type {
 public:
  explicit byte_type(std::size_t bytes) {
    if (bytes <= INT_MAX) {
      count_ = static_cast<int>(bytes);
      return;
    }
    constexpr std::size_t block = std::size_t{1} << 20;
    MPI_Datatype blocks;
    MPI_Type_contiguous(static_cast<int>(bytes / block), block_type(), &blocks);
    const int lengths[2] = {1, static_cast<int>(bytes % block)};
    const MPI_Aint places[2] = {0, static_cast<MPI_Aint>(bytes / block * block)};
    const MPI_Datatype types[2] = {blocks, MPI_BYTE};
    MPI_Type_create_struct(2, lengths, places, types, &made_);
    MPI_Type_commit(&made_);
    MPI_Type_free(&blocks);
    count_ = 1;
  }
  byte_type(const byte_type&) = delete;
  byte_type& operator=(const byte_type&) = delete;
  /// Requests that were begun with the type may go on.
  ~byte_type() {
    if (made_ != MPI_BYTE) MPI_Type_free(&made_);
  }
  [[nodiscard]] int count() const noexcept { return count_; }
  [[nodiscard]] MPI_Datatype type() const noexcept { return made_; }

 private:
  static MPI_Datatype block_type() {
    static const MPI_Datatype type = [] {
      MPI_Datatype made;
      MPI_Type_contiguous(1 << 20, MPI_BYTE, &made);
      MPI_Type_commit(&made);
      return made;
    }();
    return type;
  }

  MPI_Datatype made_ = MPI_BYTE;
  int count_ = 0;
};

/// Takes over a communicator; errors are returned, not fatal.
int take_over(int code, MPI_Comm comm, void** made) {
  if (code != MPI_SUCCESS) return code;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  *made = new MPI_Comm(comm);
  return MPI_SUCCESS;
}

constexpr calls table{
    .describe =
        [](char* to, std::size_t room) {
          char text[MPI_MAX_LIBRARY_VERSION_STRING];
          int size = 0;
          MPI_Get_library_version(text, &size);
          if (char* const end = std::strpbrk(text, ",\n")) *end = '\0';
          std::replace(text, text + std::strlen(text), '\t', ' ');
          copy_text(text, to, room);
        },
    .explain =
        [](int code, char* to, std::size_t room) {
          char text[MPI_MAX_ERROR_STRING];
          int size = 0;
          MPI_Error_string(code, text, &size);
          if (char* const end = std::strchr(text, '\n')) *end = '\0';
          copy_text(text, to, room);
        },
    .is_truncation =
        [](int code) {
          int kind = 0;
          MPI_Error_class(code, &kind);
          return kind == MPI_ERR_TRUNCATE;
        },
    .processor =
        [](char* to, std::size_t room) {
          char text[MPI_MAX_PROCESSOR_NAME];
          int size = 0;
          MPI_Get_processor_name(text, &size);
          copy_text(text, to, room);
        },
    .is_initialised = [] { return says(&MPI_Initialized); },
    .is_finalised = [] { return says(&MPI_Finalized); },
    .initialise =
        [](int* argc, char*** argv) {
          int provided = 0;
          const int code = MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
          // MPICH asks these how to handle the errors of requests.
          for (const MPI_Comm each : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
            if (code == MPI_SUCCESS) MPI_Comm_set_errhandler(each, MPI_ERRORS_RETURN);
          }
          return code == MPI_SUCCESS && provided < MPI_THREAD_FUNNELED ? MPI_ERR_OTHER : code;
        },
    .finalise = &finalise,
    .abort = [](int exit_code) { MPI_Abort(MPI_COMM_WORLD, exit_code); },
    .open =
        [](const void* mpi_comm, void** made) {
          MPI_Comm comm;
          const int code = MPI_Comm_dup(
              mpi_comm == nullptr ? MPI_COMM_WORLD : *static_cast<const MPI_Comm*>(mpi_comm),
              &comm);
          return take_over(code, comm, made);
        },
    .split =
        [](void* of, int color, int key, void** made) {
          MPI_Comm comm;
          const int code = MPI_Comm_split(comm_of(of), color, key, &comm);
          return take_over(code, comm, made);
        },
    .close =
        [](void* communicator) {
          const std::unique_ptr<MPI_Comm> comm(static_cast<MPI_Comm*>(communicator));
          if (!says(&MPI_Finalized)) MPI_Comm_free(comm.get());
        },
    .rank =
        [](void* communicator) {
          int rank = 0;
          MPI_Comm_rank(comm_of(communicator), &rank);
          return rank;
        },
    .size =
        [](void* communicator) {
          int size = 0;
          MPI_Comm_size(comm_of(communicator), &size);
          return size;
        },
    .split_here =
        [](void* of, void** made) {
          MPI_Comm comm;
          const int code =
              MPI_Comm_split_type(comm_of(of), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
          return take_over(code, comm, made);
        },
    .begin_send =
        [](void* communicator, const void* data, std::size_t bytes, int to, message_kind kind,
           request_handle* begun) {
          const byte_type as(bytes);
          return begin(begun, [&](MPI_Request* request) {
            return MPI_Isend(data, as.count(), as.type(), to, static_cast<int>(kind),
                             comm_of(communicator), request);
          });
        },
    .begin_receive =
        [](void* communicator, void* data, std::size_t bytes, int from, message_kind kind,
           request_handle* begun) {
          const byte_type as(bytes);
          return begin(begun, [&](MPI_Request* request) {
            return MPI_Irecv(data, as.count(), as.type(), from == any_rank ? MPI_ANY_SOURCE : from,
                             static_cast<int>(kind), comm_of(communicator), request);
          });
        },
    .begin_barrier =
        [](void* communicator, request_handle* begun) {
          return begin(begun, [&](MPI_Request* request) {
            return MPI_Ibarrier(comm_of(communicator), request);
          });
        },
    .begin_broadcast =
        [](void* communicator, void* data, std::size_t bytes, int root, request_handle* begun) {
          const byte_type as(bytes);
          return begin(begun, [&](MPI_Request* request) {
            return MPI_Ibcast(data, as.count(), as.type(), root, comm_of(communicator), request);
          });
        },
    .test =
        [](request_handle* begun, bool* done, std::size_t* received, int* from) {
          MPI_Request request = load(*begun);
          MPI_Status status;
          int flag = 0;
          const int code = MPI_Test(&request, &flag, &status);
          store(request, *begun);
          *done = flag != 0;
          if (code != MPI_SUCCESS || flag == 0) return code;
          MPI_Count count = 0;
          MPI_Get_elements_x(&status, MPI_BYTE, &count);
          *received = static_cast<std::size_t>(count);
          *from = status.MPI_SOURCE;
          return code;
        },
    .forget =
        [](request_handle* begun, bool receives) {
          MPI_Request request = load(*begun);
          if (receives) MPI_Cancel(&request);
          MPI_Request_free(&request);
        },
    .look =
        [](void* communicator, int from, message_kind kind, bool* is_there) {
          int flag = 0;
          const int code = MPI_Iprobe(from, static_cast<int>(kind), comm_of(communicator), &flag,
                                      MPI_STATUS_IGNORE);
          *is_there = flag != 0;
          return code;
        },
};

}  // namespace
}  // namespace creek::mpi_backend

extern "C" [[gnu::visibility("default")]] const creek::mpi_backend::calls* creek_mpi_calls() {
  return &creek::mpi_backend::table;
}

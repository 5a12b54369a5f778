// SPDX-License-Identifier: Apache-2.0
// Every UE passes a token round the ring with send and receive, the even ones sending first; in
// C++, with objects that have constructors, templates and std::cout.
#include <iostream>
#include <numeric>
#include <vector>

#include "RCCE.h"

namespace {

struct counted {
  counted() { ++made; }
  static inline int made = 0;
};
counted global_object;

template <class T>
int& instances() {
  static int number = 0;  // unique in a process unless each UE has its own copy
  return number;
}

template <class T>
void shift(std::vector<T>& data, int me, int ues) {
  if (ues == 1) return;
  auto* bytes = reinterpret_cast<char*>(data.data());
  const std::size_t size = data.size() * sizeof(T);
  const int next = (me + 1) % ues, before = (me + ues - 1) % ues;
  std::vector<T> got(data.size());
  auto* into = reinterpret_cast<char*>(got.data());
  if (me % 2 == 0 && me + 1 != ues) {
    RCCE_send(bytes, size, next);
    RCCE_recv(into, size, before);
  } else if (me % 2 == 0) {  // the last of an odd number
    RCCE_send(bytes, size, next);
    RCCE_recv(into, size, before);
  } else {
    RCCE_recv(into, size, before);
    RCCE_send(bytes, size, next);
  }
  data = got;
}

}  // namespace

int RCCE_APP(int argc, char** argv) {
  RCCE_init(&argc, &argv);
  const int me = RCCE_ue(), ues = RCCE_num_ues();
  instances<int>() += me + 1;
  std::vector<int> token(3000);
  std::iota(token.begin(), token.end(), me);
  for (int step = 0; step < ues; ++step) {
    if (token.front() != (me + ues - step) % ues) {
      std::cout << "UE " << me << " step " << step << " got " << token.front() << std::endl;
      return 1;
    }
    shift(token, me, ues);
  }
  RCCE_barrier(&RCCE_COMM_WORLD);
  if (token.front() != me || token.back() != me + 2999) return 2;
  if (counted::made != 1 || instances<int>() != me + 1) return 3;
  std::cout << "UE " << me << " has " << argc << " arguments" << std::endl;
  RCCE_finalize();
  return 0;
}

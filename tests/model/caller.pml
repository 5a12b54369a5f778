/* SPDX-License-Identifier: Apache-2.0
 * The caller of run() as a worker (backends/host/README.md, "The caller as a worker"), over the idle
 * protocol of idle.pml, whose words are used here.
 *
 * N worker threads, one caller that runs VISITS tasks as a worker where it can, and one thread that may
 * submit a task from outside. A task may push others and may end or run for ever. Each worker has a place, which is
 *   HELD      by its own thread
 *   VACANT    its thread sleeps, or is about to
 *   LENT      a caller acts as the worker
 *   AWAITED   the same, and the thread sleeps until the place is left
 *   RETURNED  the caller gives it up, and the thread goes on
 *   borrow:   everybody sleeps or searches, and no task from outside is under way: count the own one;
 *             VACANT -> LENT; sleepers - 1, where that is 0 leave the place again
 *   leave:    everybody else sleeps or searches: registered + 1; LENT -> VACANT (wakes the thread if AWAITED);
 *             sleepers + 1; if by then somebody else neither sleeps nor searches, or a task from outside is under
 *             way, wake one whatever `searching` is. No deque is armed and there is no heavy fence: who searches
 *             now arms its own deque when it finds work.
 *   give up:  RETURNED, calls++
 * A thread that wakes and finds its place lent hands on a permit, and sleeps on the place instead.
 *
 * Checked when nothing can move: no task is visible while a worker sleeps, no place is given up whose thread sleeps,
 * and the caller has come back unless its task runs for ever; always: one acts as a worker at a time, counts stay in
 * range, a place that is lent has no tasks.
 *
 * With -DASLEEP the workers begin as sleepers: their threads, which begin later, find their places vacant, lent or
 * returned.
 *
 * Faults, each of which the checker must find:
 *  -DNO_PASS      a thread whose place is lent keeps the wake-up that may have been for another
 *  -DSTAY         a thread whose place is lent goes on to wait for a permit
 *  -DNO_LOOK      the caller leaves without looking once more whether all are idle
 *  -DNO_REARM     a searcher that finds work does not arm its deque
 *  -DUNCALLED     a place is given up without a call
 *  -DUNARMED      with -DASLEEP: the caller's strand does not arm its deque as it begins */
#ifndef N
#define N 2
#endif
#ifndef TASKS
#define TASKS 1
#endif
#ifndef VISITS
#define VISITS 2
#endif

#define CALLER N
mtype = { HELD, VACANT, LENT, AWAITED, RETURNED };
#ifdef ASLEEP
mtype place[N] = VACANT;
#define SLEEP N
#else
mtype place[N] = HELD;
#define SLEEP 0
#endif

byte queue;               /* tasks from outside that nobody has taken */
byte outside;             /* those that have not ended, and the caller's */
byte visible[N], pending[N];
bool armed[N];
byte sleepers = SLEEP, searching = N - SLEEP, registered = SLEEP, permits, calls;
byte to_make = TASKS;
byte kept[N];             /* where from; 0 for none: a task that the caller found, for the worker's thread */
bool ended;               /* the caller's task */
bool stolen;              /* a part of it is with a thief */
bool waits[N + 1];        /* in the kernel for `permits` and `calls` to change; the caller acts as worker `at` */
bool waits_for_place[N];
byte at = N;
byte acting[N];           /* ghost: threads that act as the worker */
bool forever_visit;       /* ghost: the caller's task does not end */
bool done;                /* ghost: the caller has made its visits */

#define FLUSH(i) visible[i] = visible[i] + pending[i]; pending[i] = 0
#define QUIET(idle) (idle == N && outside == 0)

active proctype drain() {
end:
  do
  :: d_step { pending[0] > 0 -> FLUSH(0) }
  :: d_step { pending[1] > 0 -> FLUSH(1) }
  od
}

/* A wake-up of the kernel: of one that waits, whichever. */
inline kernel_wake() {
  atomic {
    if
    :: waits[0] -> waits[0] = false
    :: waits[1] -> waits[1] = false
    :: waits[CALLER] -> waits[CALLER] = false
    :: else
    fi
  }
}

inline call(w) {
  d_step { calls = (calls + 1) % 4; waits[w] = false;
           if :: at == w -> waits[CALLER] = false :: else fi }
}

inline wake_one(anyway) {
  atomic {
    if
    :: sleepers > 0 && (anyway || searching == 0) -> sleepers--; searching++; claimed = true
    :: else
    fi
  };
  if
  :: claimed -> claimed = false; permits++; kernel_wake()
  :: else
  fi
}

inline look() {
  d_step { found = (queue + visible[0] + visible[1] > 0) }
}

/* Takes a task: from = 1 + the worker that it was taken from, N + 1 for one from outside, 0 for none. */
inline take(w) {
  atomic {
    if
    :: visible[w] + pending[w] > 0 ->
       from = 1 + w;
       if :: pending[w] > 0 -> pending[w]-- :: else -> visible[w]-- fi
    :: else -> from = 0
    fi
  };
  if
  :: from == 0 -> atomic { if :: queue > 0 -> queue--; from = N + 1 :: else fi }
  :: else
  fi;
  if
  :: from == 0 ->
     atomic {
       if
       :: visible[1 - w] > 0 ->
          visible[1 - w]--; from = 1 + (1 - w);
          if :: at == 1 - w -> stolen = true; from = N + 2 :: else fi
       :: else
       fi
     }
  :: else
  fi
}

inline push(w) {
  atomic { to_make > 0 -> to_make--; pending[w]++ };
  if
  :: armed[w] ->
     d_step { FLUSH(w); armed[w] = (registered > 0) };
     if
     :: registered > 0 -> wake_one(false)
     :: else
     fi
  :: else
  fi
}

/* Leaves `searching` with work. */
inline found_while_searching(w) {
  atomic { assert(searching > 0); searching--; last = (searching == 0 && sleepers > 0) };
#ifndef NO_REARM
  if :: registered > 0 -> armed[w] = true :: else fi;
#endif
  if
  :: last -> last = false; look();
     if :: found -> found = false; wake_one(false) :: else fi
  :: else
  fi
}

/* Registers as a sleeper; `found` then says that it must not sleep, and is a searcher again. */
inline fall_asleep() {
  registered++;
  d_step { assert(searching > 0); searching--; sleepers++ };
  d_step { armed[0] = true };
  d_step { armed[1] = true };
  d_step { FLUSH(0); FLUSH(1) };
  look();
  if
  :: found ->
     d_step {
       if
       :: sleepers > 0 -> sleepers--; searching++
       :: else -> found = false
       fi
     };
     if :: found -> registered-- :: else fi
  :: else
  fi
}

proctype worker(byte me) {
  byte from;
  byte key;
  bool found, claimed, last;
#ifdef ASLEEP
  goto regain;
#endif
  acting[me]++;

search:
  take(me);
  if
  :: from > 0 -> found_while_searching(me); goto work
  :: else
  fi;

sleep:
  fall_asleep();
  if :: found -> found = false; goto search :: else fi;
permit:
  atomic {
    if
    :: permits > 0 -> permits--; found = true
    :: else -> key = calls
    fi
  };
  if :: found -> found = false; registered--; goto search :: else fi;
  d_step { acting[me]--; assert(pending[me] + visible[me] == 0); place[me] = VACANT };
  d_step {
    if
    :: permits == 0 && calls == key -> waits[me] = true
    :: else
    fi;
    key = 0
  };
end_asleep:
  !waits[me];
regain:
  atomic {
    if
    :: place[me] == VACANT -> place[me] = HELD; found = true
    :: else
    fi
  };
  if :: found -> found = false; acting[me]++; assert(acting[me] == 1); goto permit :: else fi;
  d_step {
    if
    :: place[me] == RETURNED -> place[me] = HELD; found = true
    :: else
    fi
  };
#ifndef NO_PASS
  if
  :: permits > 0 -> kernel_wake()
  :: else
  fi;
#endif
  if
  :: found -> found = false; acting[me]++; assert(acting[me] == 1);
     searching++;
     if :: kept[me] > 0 -> d_step { from = kept[me]; kept[me] = 0 }; found_while_searching(me); goto work :: else -> goto search fi
  :: else
  fi;
#ifdef STAY
  d_step { if :: permits == 0 -> waits[me] = true :: else fi };
#else
  d_step {
    if
    :: place[me] == LENT -> place[me] = AWAITED; waits_for_place[me] = true
    :: else
    fi
  };
end_place:
  !waits_for_place[me];
#endif
  goto end_asleep;

work:
  do
  :: push(me)
  :: goto forever
  :: break
  od;
  if
  :: from == N + 1 -> d_step { from = 0; outside-- }
  :: from == N + 2 -> from = 0; ended = true; call(at)
  :: else -> from = 0
  fi;
  searching++;
  goto search;

forever:
end:
  false
}

/* Wakes the thread if it sleeps on the place. */
inline pass_place(to) {
  d_step { assert(place[at] == LENT || place[at] == AWAITED); acting[at]--; place[at] = to; waits_for_place[at] = false }
}

proctype caller() {
  byte visits = VISITS;
  byte from, key, w;
  bool found, claimed, last;

visit:
  if :: visits == 0 -> goto finished :: else -> visits-- fi;
  atomic { if :: QUIET(sleepers + searching) && sleepers > 0 :: else -> goto visit fi };   /* runs it elsewhere */
  atomic { if :: outside == 0 -> outside = 1 :: else -> goto visit fi };
  atomic {
    if
    :: place[0] == VACANT -> place[0] = LENT; at = 0
    :: place[1] == VACANT -> place[1] = LENT; at = 1
    :: else -> outside--; goto visit
    fi;
    acting[at]++; assert(acting[at] == 1)
  };
  found = false;
  d_step { if :: sleepers > 0 -> sleepers-- :: else -> found = true fi };
  if
  :: found -> found = false; pass_place(VACANT); at = N; outside--; goto visit
  :: else
  fi;
  registered--;
  assert(pending[at] + visible[at] == 0);
#ifndef UNARMED
  if :: registered > 0 -> armed[at] = true :: else fi;     /* as a strand that begins */
#endif

  w = at;
  /* The task: may push a part; its end waits for that part. */
  if
  :: push(w) ->
     if
     :: forever_visit = true; goto forever
     :: true
     fi;
     atomic {
       if
       :: pending[w] > 0 -> pending[w]--; ended = true
       :: visible[w] > 0 -> visible[w]--; ended = true
       :: else
       fi
     }
  :: ended = true
  :: forever_visit = true; goto forever
  fi;
  if :: ended -> outside--; goto leave :: else fi;

  searching++;
search:
  if :: ended -> searching--; outside--; goto leave :: outside > 1 && !ended -> searching--; goto give_up :: else fi;
  take(w);
  if
  :: from > 0 ->
     found_while_searching(w);
     if
     :: outside > 1 -> d_step { kept[w] = from; from = 0 }; goto give_up
     :: else -> assert(from <= N); from = 0          /* a part of its task */
     fi;
     if :: push(w) :: true :: forever_visit = true; goto forever fi;
     searching++;
     goto search
  :: else
  fi;
  fall_asleep();
  if :: found -> found = false; goto search :: else fi;
permit:
  atomic {
    if
    :: permits > 0 -> permits--; found = true
    :: else -> key = calls
    fi
  };
  if :: found -> found = false; registered--; goto search :: else fi;
  if
  :: ended ->
     d_step { if :: sleepers > 0 -> sleepers--; searching++; found = true :: else fi };
     if :: found -> found = false; registered--; goto search :: else -> goto permit fi
  :: else
  fi;
  d_step {
    if
    :: permits == 0 && calls == key -> waits[CALLER] = true
    :: else
    fi;
    key = 0
  };
end_asleep:
  !waits[CALLER];
  goto permit;

leave:
  ended = false; stolen = false;
  if
  :: QUIET(sleepers + searching + 1) ->
     registered++;
     pass_place(VACANT);
     d_step { found = !QUIET(sleepers + searching + 1); sleepers++ };
     at = N;
#ifndef NO_LOOK
     if :: found -> wake_one(true) :: else fi;
#endif
     found = false
  :: true -> pass_place(RETURNED); call(w); at = N
  fi;
  w = 0;
  goto visit;

give_up:
  pass_place(RETURNED);
#ifndef UNCALLED
  call(w);
#endif
end_given_up:
  ended;
  ended = false; stolen = false; at = N; w = 0; outside--;
  goto visit;

forever:
end:
  false;
finished:
  done = true
}

active proctype submitter() {
  bool claimed;
  if
  :: outside++;
     queue++;
     if :: registered > 0 -> wake_one(false) :: else fi
  :: true
  fi
}

init {
  atomic { run worker(0); run worker(1); run caller() };
end:
  timeout;
  assert(queue + visible[0] + visible[1] == 0 ||
         !((waits[0] && place[0] == VACANT) || (waits[1] && place[1] == VACANT) || waits[CALLER]));
  assert(!(waits[0] && place[0] == RETURNED) && !(waits[1] && place[1] == RETURNED));
  assert(done || forever_visit || (stolen && !ended))
}

/* SPDX-License-Identifier: Apache-2.0
 * Shared state of the processes of task_graph.pml, and the steps that they consist of. */
#define LINKING 8
#define NONE 255               /* no record, edge or task */
#define CLOSED 254
#define UNUSED 253             /* ghost: an edge in no list */
#define EDGES 3                /* edge e is in record e / EDGES, the successor's */

byte successors[WINDOW];
byte pending[WINDOW];
byte next[WINDOW] = NONE;
byte after[WINDOW * EDGES] = UNUSED;   /* the edges' `next` */
byte task[WINDOW] = NONE;              /* number; none: recycled */
byte ended = NONE;                     /* list of records */
byte poisoned, ready;                  /* sets of records */
byte failed;                           /* set of tasks */

byte strands, added, finished, wake_at;
bool parked, room, told;

byte spawned, running;                 /* strands to the runtime: not begun, not ended */
byte free_workers = WORKERS - 1;
bool taken[WORKERS];                   /* places for strands */

/* Ghosts. */
byte needs[WINDOW];                    /* tasks that this one depends on */
byte ran, done;                        /* tasks whose body has begun, has finished */
byte held;                             /* records that their runners still use */
byte busy;                             /* strands with a task */
bool away;                             /* the enqueuer needs no worker */

#define BIT(x) (1 << (x))
#define UNFINISHED (added - finished)
#define READY ((ready & 1) + ((ready >> 1) & 1) + ((ready >> 2) & 1) + (ready >> 3))
#define MOST_IF(idle) (idle || WORKERS == 1 -> WORKERS : WORKERS - 1)
#define MOST MOST_IF(parked)
#ifdef NO_MEMORY
#define CHECK assert(strands <= WORKERS)
#define CHECK_WORKER
#define HIRED (hires == 0)
#define SPAWN :: atomic { hires > 0 -> hires--; if :: spawn(1) :: strands-- fi }
#elif defined(POLICY)
#define CHECK assert(strands <= WORKERS && (ready == 0 || strands > 0))
#define CHECK_WORKER assert(strands <= MOST_IF(away));
#define HIRED true
#define SPAWN
#else
#define CHECK assert(strands <= WORKERS && (READY <= strands - busy || strands >= MOST))
#define CHECK_WORKER assert(strands <= MOST_IF(away));
#define HIRED true
#define SPAWN
#endif
#ifdef ROOM_BEFORE
#define SEE_ROOM first = room;
#else
#define SEE_ROOM
#endif

/* State of strands and the enqueuer. Its task is in record r, or it has none; `made_ready` is a list. */
#define RUNNER byte r = NONE, edge = NONE, other, first, made_ready = NONE, hires

inline pick() {
  if
  :: ready & 1 -> r = 0
  :: ready & 2 -> r = 1
  :: ready & 4 -> r = 2
  :: ready & 8 -> r = 3
  fi;
  ready = ready & ~BIT(r);
  assert(!(ran & BIT(task[r])) && !(needs[r] & ~done) && !(needs[r] & failed) == !(poisoned & BIT(r)));
  ran = ran | BIT(task[r]);
  held = held | BIT(r)
}

inline take_by_strand() {
  if
  :: strands <= MOST && ready != 0 -> CHECK_WORKER pick(); busy++
#ifdef LAST_LEAVES
  :: true
#elif defined(POLICY)
  :: strands > 1 || ready == 0             /* fewer should be awake now */
#else
  :: else
#endif
  fi
}

inline spawn(count) {
  spawned = spawned + count; running = running + count
}

inline hire() {
  if
  :: strands < MOST && ready != 0 ->
     hires = (READY < MOST - strands -> READY : MOST - strands);
#ifdef HIRE_NOBODY
     if :: hires = 0 :: true fi;
#elif defined(POLICY)
     do
     :: hires > 1 || (hires == 1 && strands > 0) -> hires--
     :: break
     od;
#endif
#ifndef HIRE_UNCOUNTED
     strands = strands + hires;
#endif
#ifndef NO_MEMORY
     spawn(hires); hires = 0
#endif
  :: else
  fi;
  CHECK
}

inline poison(record, predecessor) {
  if
  :: failed & BIT(task[predecessor]) -> poisoned = poisoned | BIT(record)
  :: else
  fi
}

inline count_down() {
  assert(pending[other] > 0);
  pending[other]--;
  if
  :: pending[other] == 0 -> next[other] = made_ready; made_ready = other
  :: else
  fi
}

inline read_ended() {
  first = ended; next[r] = first
}

inline let_go() {
  held = held & ~BIT(r)
}

inline give_back() {
  do
  :: atomic {
       ended == first -> ended = r; first = 0;
#ifndef BACK_EARLY
       let_go();
#endif
       break
     }
  :: atomic { ended != first -> read_ended() }
  od
}

/* The body, and its end up to the lock. */
inline run_and_close() {
#ifdef BACK_EARLY
  atomic { read_ended() };
  give_back();
#endif
#ifdef SUSPENSIONS
  if
  :: free_workers++; atomic { free_workers > 0 -> free_workers-- }
  :: true
  fi;
#endif
  atomic {
#ifdef FAILURES
    if
    :: failed = failed | BIT(task[r])
    :: !(poisoned & BIT(r))
    fi;
#endif
    done = done | BIT(task[r]);
    edge = successors[r]; successors[r] = CLOSED
  };
  do
#ifdef NEXT_LATE
  :: atomic { edge != NONE -> other = edge / EDGES; count_down() };
     atomic { other = edge; edge = after[other]; after[other] = UNUSED; other = 0 }
#else
  :: atomic { edge != NONE -> other = edge; edge = after[other]; after[other] = UNUSED;
              other = other / EDGES; poison(other, r) };
     atomic { count_down(); other = 0 }
#endif
#ifdef BACK_EARLY
  :: atomic { edge == NONE -> let_go(); break }
  od
#else
  :: atomic {
       edge == NONE ->
#ifdef BACK_LATE
       finished++;
#endif
       read_ended(); break
     }
  od;
  give_back()
#endif
}

inline keep_promise() {
  assert(room && !told);
  room = false; told = true; away = false; wake_at = 0;
#ifndef STILL_PARKED
  parked = false
#endif
}

/* Under the lock. */
inline count_end() {
  do
  :: made_ready != NONE ->
     ready = ready | BIT(made_ready);
     other = made_ready; made_ready = next[other]; next[other] = NONE; other = 0
  :: made_ready == NONE -> break
  od;
  r = NONE;
#ifndef BACK_LATE
  finished++;
#endif
  if
#ifdef ROOM_BEFORE
  :: first && room && UNFINISHED <= wake_at -> keep_promise()
#elif !defined(ROOM_AFTER)
  :: room && UNFINISHED <= wake_at -> keep_promise()
#endif
  :: else
  fi;
  first = 0
}

inline leave() {
  strands--; CHECK;
  running--; free_workers++; taken[place] = false
}

inline recycle_ended() {
  r = ended; ended = NONE;
  do
  :: r != NONE ->
     assert(!(held & BIT(r)));
     for (first : r * EDGES .. r * EDGES + EDGES - 1) { assert(after[first] == UNUSED) };
     task[r] = NONE; needs[r] = 0; poisoned = poisoned & ~BIT(r);
     first = r; r = next[first]; next[first] = NONE
  :: r == NONE -> break
  od;
  first = 0
}

inline find_record() {
  r = 0;
  do
  :: r < WINDOW && task[r] != NONE -> r++
  :: else -> break
  od
}

inline start_record() {
  find_record();
  if
  :: r == WINDOW -> recycle_ended(); find_record()
  :: else
  fi;
  assert(r < WINDOW);
  task[r] = total; total++;
  successors[r] = NONE;
#ifdef UNBIASED
  pending[r] = 0
#else
  pending[r] = LINKING
#endif
}

inline find_ended() {
#ifndef FAILED_UNSEEN
  poison(r, other);
#endif
  other++
}

/* Goes to the next record that the new task depends on, by reading its list; WINDOW: there is no other. */
inline find_edge() {
  do
  :: other == WINDOW -> break
  :: other < WINDOW -> other++
  :: other < WINDOW && other != r && task[other] != NONE ->
     needs[r] = needs[r] | BIT(task[other]);
     first = successors[other];
     if
     :: first == CLOSED -> find_ended()
     :: else ->
        edge = r * EDGES + edges; edges++;
        after[edge] = first;
#ifdef UNBIASED
        pending[r]++;
#endif
        break
     fi
  od
}

inline enter_edge() {
  if
#ifdef EDGE_STORED
  :: true -> successors[other] = edge; other++
#else
  :: successors[other] == first -> successors[other] = edge; other++
#endif
  :: successors[other] == CLOSED ->
     after[edge] = UNUSED; edges--;
#ifdef UNBIASED
     pending[r]--;
#endif
     find_ended()
  fi;
  edge = NONE; first = 0
}

inline spawn_all() {
#ifdef NO_MEMORY
  do
  SPAWN
  :: hires == 0 -> break
  od
#else
  skip
#endif
}

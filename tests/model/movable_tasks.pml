/* SPDX-License-Identifier: Apache-2.0
 * How tasks move between RANKS ranks: movable_pool (tasking/src/movable_pool.cpp), RUNS times. Messages from one rank
 * to another arrive in order. A task may add two, SPAWNS times in a run. A run ends when no rank has tasks and no
 * message is under way, which ranks find out as quiet_ranks.pml says; each goes on to the next run when it likes.
 *
 *   working:  a rank runs tasks and serves messages between them; without tasks it asks a rank
 *   request:  the rank gives the older half of its tasks. If it has none to spare, a lifeline keeps the request; another
 *             rank passes it on once, then refuses it. A rank in an earlier run has none to spare and passes none on
 *   refuse:   a rank without tasks asks its lifelines
 *   kept:     a rank gives to those whose requests it keeps as soon as it has tasks to spare
 *
 * Checked: at the end of a run each lifeline keeps the request of each of its ranks, so none was forgotten; no rank
 * gets tasks of a run in which it is not.
 *
 * Faults, each of which the checker must find:
 *  -DDROP_EARLY   a lifeline drops a request of the next run
 *  -DKEEP_EARLY   a rank keeps each request of the next run
 *  -DNO_LOOK      a rank that has run tasks of others does not ask again
 *  -DNO_LIFELINE  a rank that is refused does not ask its lifelines
 *  -DLOSE_OTHERS  a rank that gives to one of those that it keeps forgets the others
 *  -DKEEP_NONE    a lifeline refuses, too */
#ifndef RANKS
#define RANKS 3
#endif
#ifndef RUNS
#define RUNS 2
#endif
#ifndef SPAWNS
#define SPAWNS 1
#endif
#ifndef FIRST
#define FIRST 2   /* tasks of rank 0 in the first run, of rank 1 in the second one */
#endif

mtype = { request, refuse, work };
chan to[RANKS * RANKS] = [4] of { mtype, byte, byte, byte };
#define from_to(f, t) to[(f) * RANKS + (t)]

byte tasks[RANKS];
byte round[RANKS];       /* the run that the rank is in */
bool waits[RANKS];       /* without tasks */
byte under_way;          /* messages */
byte begun;              /* runs, by all ranks together */
byte ended;              /* runs */
byte spawns;
bool kept[RANKS * RANKS * 2];   /* by rank, thief and parity of the run */
#define keeps(r, thief, number) kept[((r) * RANKS + (thief)) * 2 + (number) % 2]

#if RANKS == 2
#define is_lifeline(a, b) ((a) != (b))
#define all_wait (waits[0] && waits[1])
#else
#define is_lifeline(a, b) ((a) != (b) && ((a) == 0 || (b) == 0))   /* three ranks: they differ in one bit */
#define all_wait (waits[0] && waits[1] && waits[2])
#endif

inline send(kind_, receiver, x, y, z) {
  under_way++;
  from_to(me, receiver)!kind_, x, y, z
}

inline give(thief) {
  n = tasks[me] / 2;
  tasks[me] = tasks[me] - n;
  send(work, thief, round[me], n, 0);
  n = 0
}

inline look() {
  waits[me] = true;
#if RANKS == 2
  send(request, 1 - me, me, round[me], 2)
#else
  if   /* at random */
  :: true -> send(request, (me + 1) % RANKS, me, round[me], 1)
  :: true -> send(request, (me + 2) % RANKS, me, round[me], 1)
  fi
#endif
}

/* a: thief, b: run, c: hops, 2 for a lifeline */
inline serve_request() {
  if
  :: b == round[me] && tasks[me] > 1 -> give(a)
  :: (b != round[me] || tasks[me] <= 1) && c < 2 ->
       if
#ifdef KEEP_EARLY
       :: b != round[me] -> keeps(me, a, b) = true
#else
       :: b != round[me] -> send(refuse, a, b, 0, 0)
#endif
       :: b == round[me] && c == 0 -> send(refuse, a, b, 0, 0)
       :: b == round[me] && c == 1 -> send(request, RANKS - me - a, a, b, 0)
       fi
#ifdef DROP_EARLY
  :: b != round[me] && c == 2 -> skip
#else
  :: b != round[me] && c == 2 -> keeps(me, a, b) = true
#endif
  :: b == round[me] && tasks[me] <= 1 && c == 2 ->
#ifndef KEEP_NONE
       keeps(me, a, b) = true
#else
       skip
#endif
  fi
}

inline ask_lifelines() {
  t = 0;
  do
  :: t < RANKS && is_lifeline(me, t) -> send(request, t, me, round[me], 2); t++
  :: t < RANKS && !is_lifeline(me, t) -> t++
  :: t == RANKS -> break
  od;
  t = 0
}

inline serve(f) {
  from_to(f, me)?kind, a, b, c;
  if
  :: kind == request -> serve_request()
#ifndef NO_LIFELINE
  :: kind == refuse && a == round[me] && waits[me] -> ask_lifelines()
  :: kind == refuse && !(a == round[me] && waits[me]) -> skip
#else
  :: kind == refuse -> skip
#endif
  :: kind == work ->
       assert(a == round[me]);
       tasks[me] = tasks[me] + b;
       waits[me] = false;
       in_call = true
  fi;
  under_way--;
  kind = 0; a = 0; b = 0; c = 0
}

/* In the code the message with the tasks is under way until they have run; here the rank does not wait. */
#define quiet (all_wait && under_way == 0 && begun == RANKS * round[me])

inline next_run() {
  t = 0;
  do
  :: t < RANKS -> keeps(me, t, round[me]) = false; t++
  :: else -> break
  od;
  t = 0;
  in_call = false;
  round[me]++;
  begun++;
  if
  :: me == (round[me] - 1) % RANKS && round[me] <= RUNS -> tasks[me] = FIRST
  :: else -> skip
  fi;
  waits[me] = round[me] > RUNS
}

proctype rank(byte me) {
  mtype kind;
  byte a, b, c, n, t;
  bool in_call;
  atomic { next_run() }
  do
  :: atomic { nempty(from_to(0, me)) && round[me] <= RUNS -> serve(0) }
  :: atomic { nempty(from_to(1, me)) && round[me] <= RUNS -> serve(1) }
#if RANKS > 2
  :: atomic { nempty(from_to(2, me)) && round[me] <= RUNS -> serve(2) }
#endif
  :: atomic { !waits[me] && tasks[me] > 0 ->
       tasks[me]--;
       if
       :: spawns < SPAWNS -> spawns++; tasks[me] = tasks[me] + 2
       :: true -> skip
       fi }
  :: atomic { !waits[me] && tasks[me] > 1 ->   /* to those that it keeps */
       do
       :: t < RANKS && tasks[me] > 1 && keeps(me, t, round[me]) -> keeps(me, t, round[me]) = false; give(t);
#ifdef LOSE_OTHERS
            keeps(me, 0, round[me]) = false; keeps(me, 1, round[me]) = false; keeps(me, RANKS - 1, round[me]) = false
#endif
       :: t < RANKS -> t++
       :: t == RANKS -> break
       od;
       t = 0 }
  :: atomic { !waits[me] && tasks[me] == 0 ->
       if
#ifdef NO_LOOK
       :: in_call -> waits[me] = true
       :: !in_call -> look()
#else
       :: true -> look()
#endif
       fi;
       in_call = false }
  :: atomic { quiet && ended < round[me] && round[me] <= RUNS ->   /* the first rank that notices */
       t = 0;
       do
       :: t < RANKS * RANKS ->
            assert(!is_lifeline(t / RANKS, t % RANKS) || keeps(t / RANKS, t % RANKS, round[me]));
            t++
       :: else -> break
       od;
       t = 0;
       spawns = 0;
       ended = round[me] }
  :: atomic { ended == round[me] && round[me] <= RUNS -> next_run() }
  :: round[me] > RUNS -> break
  od
}

init {
  byte i = 0;
  atomic {
    do
    :: i < RANKS -> run rank(i); i++
    :: else -> break
    od
  }
}

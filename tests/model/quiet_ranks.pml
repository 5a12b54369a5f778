/* SPDX-License-Identifier: Apache-2.0
 * How RANKS ranks find out that no call is under way: object_space::barrier() (core/src/objects/call_service.cpp),
 * twice. Calls make calls, at most CALLS in all; results and credits are calls here.
 *
 *   call:     a rank serves it, and may serve others and make calls meanwhile; at its end it counts as received
 *   counts:   rank 0 asks all for the calls that they sent and received; a rank answers when it is in the barrier and
 *             serves none. Quiet is when both sums are equal, and were the same the last time [Mattern 1987]
 *   release:  rank 0 lets the others go on
 *
 * Checked: at a release no call is served or under way, and all ranks are in this barrier; nobody waits for ever.
 *
 * Faults, each of which the checker must find:
 *  -DONE_WAVE        equal sums are enough
 *  -DCOUNT_EARLY     a call counts as received when it begins, and a rank answers while it serves one
 *  -DANSWER_OUTSIDE  a rank answers outside of the barrier
 *  -DSERVE_RELEASED  a rank that is released serves on before it leaves the barrier */
#ifndef RANKS
#define RANKS 3
#endif
#ifndef CALLS
#define CALLS 3
#endif
#define BARRIERS 2

mtype = { call, ask, counts, release };
chan to[RANKS * RANKS] = [CALLS + 2] of { mtype, byte, byte };
#define from_to(f, t) to[(f) * RANKS + (t)]

byte made;                 /* calls */
byte under_way;            /* calls, from their begin to their end */
byte barrier[RANKS];       /* in which the rank is, or 0 */

inline answer_if_asked() {
  if
#ifdef COUNT_EARLY
  :: is_asked && barrier[me] != 0
#else
#ifdef ANSWER_OUTSIDE
  :: is_asked && running == 0
#else
  :: is_asked && barrier[me] != 0 && running == 0
#endif
#endif
     -> is_asked = false; from_to(me, 0)!counts, sent, received
  :: else -> skip
  fi
}

inline ask_all() {
  answers = 0; sum_sent = 0; sum_received = 0;
  t = 1;
  do
  :: t < RANKS -> from_to(me, t)!ask, 0, 0; t++
  :: else -> break
  od;
  t = 0
}

inline serve(f) {
  from_to(f, me)?kind, a, b;
  if
  :: kind == call ->
       running++;
#ifdef COUNT_EARLY
       received++
#endif
  :: kind == ask -> is_asked = true
  :: kind == counts -> sum_sent = sum_sent + a; sum_received = sum_received + b; answers++
  :: kind == release -> is_released = true
  fi;
  answer_if_asked();
  kind = 0; a = 0; b = 0
}

proctype rank(byte me) {
  mtype kind;
  byte a, b, t, sent, received, running, answers, sum_sent, sum_received, last_sent = 255, last_received, passed;
  bool is_asked, is_released;
#ifdef SERVE_RELEASED
#define may_serve (passed < BARRIERS)
#else
#define may_serve (passed < BARRIERS && !is_released)
#endif
  do
  :: atomic { may_serve && nempty(from_to(0, me)) -> serve(0) }
  :: atomic { may_serve && nempty(from_to(1, me)) -> serve(1) }
#if RANKS > 2
  :: atomic { may_serve && nempty(from_to(2, me)) -> serve(2) }
#endif
  :: atomic { made < CALLS && passed < BARRIERS && (running > 0 || barrier[me] == 0) ->
       if
       :: t = (me + 1) % RANKS
       :: t = (me + 2) % RANKS
       fi;
       if
       :: t != me -> made++; under_way++; sent++; from_to(me, t)!call, 0, 0
       :: else -> skip
       fi;
       t = 0 }
  :: atomic { running > 0 ->
       running--;
       under_way--;
#ifndef COUNT_EARLY
       received++;
#endif
       answer_if_asked() }
  :: atomic { running == 0 && barrier[me] == 0 && passed < BARRIERS ->
       barrier[me] = passed + 1;
       if
       :: me == 0 -> last_sent = 255; ask_all()
       :: else -> answer_if_asked()
       fi }
  :: atomic { me == 0 && barrier[me] != 0 && running == 0 && answers == RANKS - 1 ->
       sum_sent = sum_sent + sent;
       sum_received = sum_received + received;
       if
#ifdef ONE_WAVE
       :: sum_sent == sum_received ->
#else
       :: sum_sent == sum_received && sum_sent == last_sent && sum_received == last_received ->
#endif
            assert(under_way == 0);
            t = 0;
            do
            :: t < RANKS -> assert(barrier[t] == passed + 1); t++
            :: else -> break
            od;
            t = 1;
            do
            :: t < RANKS -> from_to(me, t)!release, 0, 0; t++
            :: else -> break
            od;
            t = 0; answers = 0; last_sent = 0; last_received = 0;
            barrier[me] = 0; passed++
       :: else -> last_sent = sum_sent; last_received = sum_received; ask_all()
       fi }
  :: atomic { is_released && running == 0 -> is_released = false; barrier[me] = 0; passed++ }
  :: passed == BARRIERS -> break
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

/* SPDX-License-Identifier: Apache-2.0
 * The lock-based deque (tasking/lock_deque.hpp): owner with inserts outside the lock, two thieves.
 * Capacity 2, so that full, empty and wrapping positions all occur. The owner's plain stores (slot,
 * tail) wait in a store buffer and drain in order; its test-and-set drains it, as on x86-64.
 * Checked: no task is lost, taken twice or seen torn, and every thread finishes.
 * Faults for the checker to find: -DNO_LOCK_POP (the owner pops without the lock),
 * -DHEAD_FIRST (a thief moves the head before it has copied the task). */
#define CAP 2
#define TASKS 4
#define THIEVES 2

byte head, tail;          /* positions 0 .. 2*CAP-1, in memory */
byte slot[CAP];           /* task numbers, 1-based; in memory */
bool lock;
byte taken[TASKS + 1];
bool owner_done;

/* The owner's store buffer: kind 0 = tail, 1 = slot 0, 2 = slot 1. */
chan buffer = [3] of { byte, byte };

#define DISTANCE(from, to) ((to >= from) -> (to - from) : (to + 2 * CAP - from))
#define NEXT(p) ((p + 1) % (2 * CAP))
#define PREVIOUS(p) ((p + 2 * CAP - 1) % (2 * CAP))
#define EMPTY_BUFFER (len(buffer) == 0)

inline apply(what, value) {
  if
  :: what == 0 -> tail = value
  :: else -> slot[what - 1] = value
  fi
}

active proctype drain() {
  byte what, value;
end:
  do
  :: atomic { buffer ? what, value -> apply(what, value); what = 0; value = 0 }
  od
}

inline take(task) {
  assert(task != 0);
  taken[task]++;
  assert(taken[task] == 1)
}

active proctype owner() {
  byte own_tail, head_seen, next = 1, got;
  bool no_room;
  do
  :: next <= TASKS ->                                   /* push */
     no_room = false;
     if
     :: DISTANCE(head_seen, own_tail) == CAP ->
        head_seen = head;
        no_room = (DISTANCE(head_seen, own_tail) == CAP)
     :: else
     fi;
     if
     :: no_room -> take(next)                           /* run inline */
     :: else ->
        buffer ! 1 + own_tail % CAP, next;
        own_tail = NEXT(own_tail);
        buffer ! 0, own_tail
     fi;
     next++
  :: true ->                                            /* pop */
     if
     :: head == own_tail -> if :: next > TASKS -> break :: else fi
     :: else ->
#ifndef NO_LOCK_POP
        atomic { !lock && EMPTY_BUFFER -> lock = true };
#endif
        head_seen = head;
        if
        :: head_seen != own_tail ->
           own_tail = PREVIOUS(own_tail);
           EMPTY_BUFFER;                                /* reads its own buffered slot store */
           got = slot[own_tail % CAP];
           take(got);
           buffer ! 0, own_tail
        :: else
        fi;
#ifndef NO_LOCK_POP
        atomic { EMPTY_BUFFER -> lock = false }         /* leaves the buffer after the tail */
#endif
     fi
  od;
  EMPTY_BUFFER;
  owner_done = true
}

active [THIEVES] proctype thief() {
  byte h, got;
  do
  :: owner_done -> break
  :: head != tail ->                                    /* the look without the lock */
     atomic { !lock -> lock = true };
     h = head;
     if
     :: h != tail ->
#ifdef HEAD_FIRST
        head = NEXT(h);
        got = slot[h % CAP];
#else
        got = slot[h % CAP];
        head = NEXT(h);
#endif
        take(got)
     :: else
     fi;
     lock = false
  od
}

active proctype monitor() {
  byte i;
end:
  atomic {
    timeout ->
    assert(owner_done);
    i = 1;
    do
    :: i <= TASKS -> assert(taken[i] == 1); i++
    :: else -> break
    od
  }
}

/* SPDX-License-Identifier: Apache-2.0
 * The split deque of the host (tasking/ext/task_stack.hpp): the owner's pushes and joins without a
 * fence, against thieves that steal, ask, and move the split by force behind a heavy fence.
 * The owner's stores of `top` (with the slot written before it) wait in a store buffer; its locked
 * instructions drain it, and so does a thief's heavy fence. All its other stores are made under the
 * lock `mover`, whose release leaves the buffer after them, so they are written through.
 * A fork may be joined while younger tasks are above it. If it is taken back, its slot becomes a hole, a task that does
 * nothing and that any thread may take; if it was stolen, its creator waits and leaves the slot as it is.
 * Checked: a task runs exactly once; a thief that takes a slot sees what was written there; a slot
 * is not reused before its thief has finished; every thread finishes.
 * Faults for the checker to find: -DNO_HEAVY_FENCE, -DFLOOR_AFTER (the floor is raised after the
 * fence), -DNO_RESET (the split is not taken down past a stolen slot), -DHOLE_UNLOCKED (the hole is
 * made after the lock is released). */
#define CAP 3
#ifndef OPS
#define OPS 5
#endif
#define THIEVES 2
#ifndef TRIES
#define TRIES 3
#endif
#define NO_FLOOR 99

byte top, floor, limit = CAP;      /* in memory */
byte tail_, split_;                /* one packed word: read and written in one step */
bool asked, mover;

byte pushed[CAP];                  /* version written by the owner */
byte seen[CAP];                    /* version in memory */
mtype = { unused, waiting, stolen, done, hole };
mtype state[CAP] = unused;         /* ghost: where the task is */

chan buffer = [3] of { byte, byte };   /* value of top, slot written before it (CAP: none) */
#define EMPTY_BUFFER (len(buffer) == 0)

inline apply(t, s) {
  if :: s < CAP -> seen[s] = pushed[s] :: else fi;
  top = t
}

inline drain_all(t, s) {
  do
  :: buffer ? [t, s] -> buffer ? t, s; apply(t, s)
  :: empty(buffer) -> break
  od
}

active proctype drain() {
  byte t, s;
end:
  do
  :: atomic { buffer ? t, s -> apply(t, s); t = 0; s = 0 }
  od
}

#define LOCK atomic { !mover && EMPTY_BUFFER -> mover = true }
#define UNLOCK mover = false

/* Owner, under the lock: shares half of the private tasks if a thief asked; resets limit and floor. */
inline answer(t) {
  s = split_;
  if
  :: asked && t > s && tail_ == s ->
     atomic { split_ = s + (t - s + 1) / 2; s = split_ }
  :: else
  fi;
  limit = CAP;
  floor = s;
  asked = false
}

/* Owner, under the lock: makes slot `n` private if no thief has it. */
inline reclaim(n) {
  do
  :: tail_ > n -> mine = false; break
  :: atomic { tail_ <= n && split_ <= n -> mine = true }; break
  :: atomic { tail_ <= n && split_ > n ->                 /* the CAS that wins */
              split_ = tail_ + (n - tail_) / 2; mine = true };
     floor = split_;
     break
  od
}

/* The join of a fork that has younger tasks above it. */
inline join_buried(k) {
  LOCK;
  reclaim(k);
  if
  :: mine ->
#ifdef HOLE_UNLOCKED
     UNLOCK;
#endif
     atomic {
       assert(state[k] == waiting);
       state[k] = hole;
       pushed[k] = pushed[k] + 1;
       seen[k] = pushed[k]
     };
#ifndef HOLE_UNLOCKED
     UNLOCK
#endif
  :: else ->
     UNLOCK;
     state[k] == done
  fi;
  mine = false;
  joined[k] = true
}

active proctype owner() {
  byte n, s, ops, k;
  bool mine;
  bool joined[CAP];
  do
  :: n < CAP && ops < OPS ->                            /* push */
     ops++;
     atomic {
       assert(state[n] == unused);
       state[n] = waiting;
       pushed[n] = pushed[n] + 1;
       buffer ! n + 1, n
     };
     n++;
     if
     :: n > limit -> LOCK; answer(n); UNLOCK
     :: else
     fi
  :: n > 0 ->                                           /* join */
     n--;
     buffer ! n, CAP;
     if
     :: n >= floor -> mine = true
     :: else ->
        LOCK;
        reclaim(n);
        if
        :: mine && asked -> answer(n)
        :: else
        fi;
        UNLOCK
     fi;
     if
     :: mine -> atomic { assert(state[n] == waiting || state[n] == hole); state[n] = unused }
     :: else ->
        state[n] == done;
        state[n] = unused;
        LOCK;
#ifndef NO_RESET
        atomic { tail_ = n; split_ = n };
        floor = n;
#endif
        UNLOCK
     fi;
     mine = false;
     joined[n] = false
  :: n > 1 && !joined[0] -> k = 0; join_buried(k)
  :: n > 2 && !joined[1] -> k = 1; join_buried(k)
  :: n == 0 && ops == OPS -> break
  od
}

active [THIEVES] proctype thief() {
  byte t, s, wish, raised, k, tries;
  do
  :: tries == TRIES -> break
  :: tries < TRIES ->
     tries++;
     if
     :: true ->                                         /* steal */
        atomic { t = tail_; s = split_ };
        if
        :: t < s ->
           atomic {
             if
             :: tail_ == t && split_ == s ->
                tail_ = t + 1;
                assert(state[t] == waiting || state[t] == hole);
                assert(seen[t] == pushed[t]);
                state[t] = stolen;
                k = t + 1
             :: else -> k = 0
             fi
           };
           if
           :: k > 0 -> state[k - 1] = done; k = 0
           :: else
           fi
        :: else
        fi;
        atomic { t = 0; s = 0 }
     :: !asked ->                                       /* ask */
        atomic { if :: asked -> k = 0 :: else -> asked = true; k = 1 fi };
        if
        :: k == 1 -> limit = 0; floor = NO_FLOOR; k = 0
        :: else
        fi
     :: atomic { !mover -> mover = true };              /* share by force */
        s = split_;
        t = top;
        if
        :: t > s ->
           wish = s + (t - s + 1) / 2;
#ifndef FLOOR_AFTER
           floor = wish;
#endif
#ifndef NO_HEAVY_FENCE
           atomic { drain_all(t, raised) };
#endif
#ifdef FLOOR_AFTER
           floor = wish;
#endif
           t = top;
           raised = ((t < wish) -> t : wish);
           if :: raised < s -> raised = s :: else fi;
           atomic { split_ = split_ + raised - s };
           floor = raised
        :: else
        fi;
        UNLOCK;
        atomic { t = 0; s = 0; wish = 0; raised = 0 }
     fi
  od
}

/* SPDX-License-Identifier: Apache-2.0
 * The event count (core/include/creek/core/threads/event_count.hpp), its protocol in core/README.md.
 *
 * NOTIFIERS threads each add an item and call notify_one(); WAITERS = NOTIFIERS threads each wait for
 * an item and take it. A notifier's store of its item waits in its store buffer [Sewell 2010] until
 * something drains it: time, a locked instruction of its own, its fence, or a waiter's heavy fence.
 * Checked: no waiter stays asleep. Spin reports a lost wake-up as an invalid end state.
 *
 *  -DSYMMETRIC    symmetric_event_count: the notifier has the fence, the waiter no heavy one (its
 *                 registration is a locked instruction)
 * Faults for the checker, each of which it must find:
 *  -DNO_FENCE     asymmetric, but the waiter registers without the heavy fence
 *  -DNO_RECHECK   the waiter does not check the condition after registering
 *  -DLATE_KEY     the waiter takes its key after its check
 *  -DNO_COMPARE   the waiter falls asleep whatever the epoch is
 *  -DNO_BUMP      the notifier wakes sleepers without changing the epoch */
#ifndef NOTIFIERS
#define NOTIFIERS 2
#endif

byte items;               /* in memory: what the condition reads */
byte buffered[NOTIFIERS]; /* items still in the notifier's store buffer */
byte waiters, epoch;
bool asleep[NOTIFIERS];   /* waiters in the kernel */

#define DRAIN(i) items = items + buffered[i]; buffered[i] = 0

active proctype memory_system() {
end:
  do
  :: atomic { buffered[0] > 0 -> DRAIN(0) }
  :: atomic { buffered[1] > 0 -> DRAIN(1) }
#if NOTIFIERS > 2
  :: atomic { buffered[2] > 0 -> DRAIN(2) }
#endif
  od
}

inline heavy_fence() {
  d_step {
    DRAIN(0); DRAIN(1);
#if NOTIFIERS > 2
    DRAIN(2);
#endif
  }
}

active [NOTIFIERS] proctype notifier() {
  byte me = _pid - 1;
  bool nobody;
  buffered[me]++;
#ifdef SYMMETRIC
  d_step { DRAIN(me) };
#endif
  nobody = (waiters == 0);
  if
  :: nobody -> skip
  :: else ->
#ifdef NO_BUMP
    d_step { DRAIN(me) };
#else
    d_step { DRAIN(me); epoch++ };       /* fetch_add drains the buffer */
#endif
    atomic {                             /* futex_wake(1) */
      if
      :: asleep[0] -> asleep[0] = false
      :: asleep[1] -> asleep[1] = false
#if NOTIFIERS > 2
      :: asleep[2] -> asleep[2] = false
#endif
      :: else -> skip
      fi
    }
  fi
}

inline try_take() {
  atomic {
    if
    :: items > 0 -> items--; taken = true
    :: else -> taken = false
    fi
  }
}

active [NOTIFIERS] proctype waiter() {
  byte me = _pid - 1 - NOTIFIERS;
  byte key;
  bool taken;
  try_take();
  do
  :: taken -> break
  :: else ->
    waiters++;                           /* prepare_wait() */
#if !defined(NO_FENCE) && !defined(SYMMETRIC)
    heavy_fence();
#endif
#ifndef LATE_KEY
    key = epoch;
#endif
#ifndef NO_RECHECK
    try_take();
#endif
#ifdef LATE_KEY
    key = epoch;
#endif
    if
    :: taken -> waiters--                /* cancel_wait() */
    :: else ->                           /* wait() */
      atomic {
        if
#ifdef NO_COMPARE
        :: true -> asleep[me] = true
#else
        :: epoch == key -> asleep[me] = true
        :: else -> skip
#endif
        fi
      };
      !asleep[me];
      waiters--;
      try_take()                         /* await() begins its loop with a check */
    fi
  od
}

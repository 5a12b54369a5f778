/* SPDX-License-Identifier: Apache-2.0
 * A wait for a future that a deadline or a stop request may end (tasking/src/limited_wait.cpp, and unlisten() in
 * tasking/src/future.cpp).
 *
 * N waiters wait for one state, each VISITS times unless it becomes ready. A producer makes the state ready. Each
 * waiter has a deadline, which the timer's thread finds in its queue, and a stop callback, which a requester calls. The
 * listener, the entry of the queue and the callback lie in the frame of the wait.
 *
 *   wait:      register callback and deadline; when off the stack: push the listener, RUNNING -> SUSPENDED
 *   notifier:  phase: READY by exchange, TIMEOUT and STOPPED from RUNNING and SUSPENDED only; who finds SUSPENDED
 *              resumes the strand
 *   leave:     take the deadline out of the queue, wait for a callback that runs; unless READY take the listener off:
 *              take the whole list, unless the state is ready; put the others back, or notify them if it has become
 *              ready meanwhile. If the state is ready, wait to be notified, by the same words.
 *
 * Checked: nobody touches a frame that is gone, a strand is resumed once for each time that it is suspended, and
 * all waiters come back.
 *
 * Faults, each of which the checker must find:
 *  -DNO_CLAIM         a notifier resumes the strand without being the first to change the phase
 *  -DSTAY_LISTED      a waiter leaves without taking its listener off
 *  -DNO_AWAIT         a waiter leaves that finds the state ready, though it was not yet notified
 *  -DTIMER_LEFT       a waiter leaves its deadline in the queue
 *  -DCLAIM_UNLOCKED   the timer's thread takes a deadline out under the lock and changes the phase after it
 *  -DSTOP_LEFT        a waiter does not wait for a callback that runs
 *  -DSTORE_BACK       the others are put back without a look whether the state is ready
 *  -DGIVE_UP          a waiter that does not find its listener in the list believes that it was taken off
 *  -DTOUCH_LATE       a notifier that did not find a suspended strand touches the frame once more
 *  -DPUBLISH_BLIND    a strand counts as suspended although a notifier has come before */
#ifndef N
#define N 2
#endif
#ifndef VISITS
#define VISITS 2
#endif

mtype = { RUNNING, SUSPENDED, READY, TIMEOUT, STOPPED };

/* The list: a stack of waiters' numbers plus one; 0 ends it. */
#define NONE 0
#define TAG 255                /* the state is ready */
byte head = NONE;
byte after[N + 1];             /* told_after, by number plus one */

mtype phase[N] = RUNNING;
bool parked[N];                /* off its stack, not resumed */
bool frame[N];                 /* ghost: the wait is under way */
bool queued[N];                /* its deadline is in the queue */
bool has_callback[N];          /* its stop callback is registered */
bool in_callback[N];           /* and runs */
bool back[N];                  /* ghost: all visits are made */
bool queue_lock;

#define touch(w) assert(frame[w])

inline resume(w) { assert(parked[w]); parked[w] = false }

/* publish()'s and put_back()'s call of a listener. */
inline notify(w) {
  d_step {
    touch(w);
    old = phase[w];
#ifdef NO_CLAIM
    if :: old != SUSPENDED && old != RUNNING -> old = (parked[w] -> SUSPENDED : old) :: else fi;
#endif
    phase[w] = READY
  };
  if
  :: old == SUSPENDED -> d_step { touch(w); resume(w); old = 0 }
  :: else ->
#ifdef TOUCH_LATE
     touch(w);
#endif
     old = 0
  fi
}

/* expire and the stop callback. */
inline end_wait(w, how) {
  d_step {
    touch(w);
    old = phase[w];
    if
    :: old == RUNNING || old == SUSPENDED -> phase[w] = how
    :: else
#ifdef NO_CLAIM
       -> old = (parked[w] -> SUSPENDED : old)
#endif
    fi
  }
}

/* Notifies the listeners from `walk` on. */
inline notify_all() {
  do
  :: walk != NONE ->
     d_step { touch(walk - 1); next = after[walk] };
     notify(walk - 1);
     d_step { walk = next; next = NONE }
  :: else -> break
  od
}

proctype waiter(byte me) {
  byte visits = VISITS;
  byte walk, next, others, last, seen;
  mtype old;
  bool found, listens;

visit:
  if
  :: visits == 0 || head == TAG -> goto finished
  :: else -> visits--
  fi;
  atomic { frame[me] = true; phase[me] = RUNNING; listens = false };
  has_callback[me] = true;
  d_step { !queue_lock -> queued[me] = true };

  /* publish, off the stack. */
push:
  seen = head;
  if
  :: seen == TAG -> phase[me] = READY; goto resumed
  :: else
  fi;
  after[me + 1] = seen;
  d_step {
    if
    :: head == seen -> head = me + 1; listens = true
    :: else
    fi;
    seen = 0
  };
  if :: !listens -> goto push :: else fi;
  d_step {
    if
#ifdef PUBLISH_BLIND
    :: true
#else
    :: phase[me] == RUNNING
#endif
       -> phase[me] = SUSPENDED; parked[me] = true
    :: else
    fi
  };
end_suspended:
  !parked[me];

resumed:
#ifndef TIMER_LEFT
  atomic { !queue_lock -> queued[me] = false };
#endif
  has_callback[me] = false;
#ifndef STOP_LEFT
  !in_callback[me];
#endif
  if :: phase[me] == READY || !listens -> goto leave :: else fi;
#ifdef STAY_LISTED
  goto leave;
#endif

unlisten:
  atomic {
    seen = head;
    if :: seen != TAG -> head = NONE :: else fi
  };
  if :: seen == TAG -> seen = 0; goto await :: else fi;
  /* The list is this waiter's. */
  walk = seen; others = NONE; last = NONE; found = false;
  do
  :: walk != NONE ->
     d_step {
       touch(walk - 1);
       next = after[walk];
       if
       :: walk == me + 1 -> found = true
       :: else ->
          if :: last != NONE -> after[last] = walk :: else -> others = walk fi;
          last = walk; after[last] = NONE
       fi;
       walk = next; next = NONE
     }
  :: else -> break
  od;
  if
  :: others == NONE -> goto put
  :: else
  fi;
put_back:
  seen = head;
#ifndef STORE_BACK
  if
  :: seen == TAG -> walk = others; notify_all(); goto put
  :: else
  fi;
#endif
  after[last] = (seen == TAG -> NONE : seen);
  d_step {
    if
    :: head == seen -> head = others; last = NONE
    :: else
    fi
  };
  if :: last != NONE -> goto put_back :: else fi;
put:
  atomic { walk = NONE; others = NONE; last = NONE; seen = 0 };
#ifdef GIVE_UP
  goto leave;
#endif
  if :: found -> found = false; goto leave :: else -> goto unlisten fi;

await:
#ifdef NO_AWAIT
  goto leave;
#endif
  atomic {
    if
    :: phase[me] != READY -> phase[me] = SUSPENDED; parked[me] = true
    :: else
    fi
  };
end_awaiting:
  !parked[me];
  assert(phase[me] == READY);

leave:
  frame[me] = false;
  found = false;
  goto visit;
finished:
  back[me] = true
}

proctype producer() {
  byte walk, next;
  mtype old;
  d_step { walk = head; head = TAG };
  notify_all()
}

/* The timer's thread: any deadline in the queue may have passed. It changes the phase under the lock of the queue. */
proctype timer() {
  mtype old;
  byte w;
end:
  do
  :: atomic { queued[0] && !queue_lock -> w = 0; queued[0] = false; queue_lock = true };
     goto expire
#if N > 1
  :: atomic { queued[1] && !queue_lock -> w = 1; queued[1] = false; queue_lock = true };
     goto expire
#endif
  od;
expire:
#ifdef CLAIM_UNLOCKED
  queue_lock = false;
#endif
  end_wait(w, TIMEOUT);
  queue_lock = false;
  if :: old == SUSPENDED -> d_step { touch(w); resume(w) } :: else fi;
  d_step { old = 0; w = 0 };
  goto end
}

/* Requests a stop of each waiter, once. */
proctype requester() {
  mtype old;
  byte w = 0;
  do
  :: w < N ->
     if
     :: d_step { has_callback[w] -> has_callback[w] = false; in_callback[w] = true };
        end_wait(w, STOPPED);
        if :: old == SUSPENDED -> d_step { touch(w); resume(w) } :: else fi;
        in_callback[w] = false;
        old = 0
     :: true
     fi;
     w++
  :: else -> break
  od
}

init {
  byte w;
  atomic {
    for (w : 0 .. N - 1) { run waiter(w) }
    run producer(); run timer(); run requester()
  };
end:
  timeout;
  for (w : 0 .. N - 1) { assert(back[w]) }
}

/* SPDX-License-Identifier: Apache-2.0
 * Waiting for items and for room of channels (tasking/src/channel.cpp, tasking/detail/channel_base.hpp).
 *
 * Two channels with room for CAP items; a producer sends ITEMS items to the first, one to the second, and suspends
 * when it is full. Waiter 0 selects from both, waiter 1 receives from channel 0. A deadline may end one wait of either.
 * Consumers and producers meet at two positions, `written` and `taken`; their stores wait in a store buffer while the writer
 * already looks for waiters.
 *
 *   change:  store the position; light fence; if the list of the other side is not empty: take one waiter off under
 *            the lock, phase READY by exchange; who finds SUSPENDED resumes the strand
 *   wait:    when off the stack: put a waiter on each channel's list, heavy fence, look at the channels; RUNNING ->
 *            SUSPENDED. Afterwards take the waiters off all lists.
 *   select:  takes from any channel that is ready; a notification of another channel is passed on if it is ready
 *
 * Checked: nobody touches a frame that is gone, a strand is resumed once for each time that it is suspended, and at
 * the end nobody waits for items of a channel that has some, or for room in one that has room. The select may leave
 * after any item.
 *
 * Faults, each of which the checker must find:
 *  -DNO_HEAVY_FENCE   a waiter looks at the channels without the fence
 *  -DNO_RECHECK       a waiter suspends without a look after it is on the lists
 *  -DLOOK_EARLY       a change looks for waiters before it stores the position
 *  -DNO_PASS          a select forgets notifications of channels from which it did not take
 *  -DSTAY_LISTED      a select leaves its waiters on the other lists
 *  -DNOTIFY_UNLOCKED  a notifier changes the phase after it has released the lock
 *  -DDROP_TIMED_OUT   a wait that timed out gives up although it was notified meanwhile
 *  -DPUBLISH_BLIND    a strand counts as suspended although a notifier has come before */
#ifndef CAP
#define CAP 1
#endif
#ifndef ITEMS
#define ITEMS 2
#endif

mtype = { RUNNING, SUSPENDED, READY, TIMEOUT };

byte written[2], taken[2];     /* in memory */
bool buffered_written[2];      /* the producer's next position is in its store buffer */
bool buffered_taken[2];        /* so is the consumers', and with it the release of their lock */

/* Waiters: 0 selects, 1 receives from channel 0, 2 and 3 are the producers of channels 0 and 1. */
#define WAITERS 4
#define at(w, c) ((w) * 2 + (c))
bool listed[8], notified[8];
mtype phase[WAITERS] = RUNNING;
bool parked[WAITERS], frame[WAITERS], was_timed[2], has_expired;

#define has_items(c) (written[c] != taken[c])
#define has_room(c)  (written[c] - taken[c] < CAP)
#define item_waiters(c) (listed[at(0, c)] || listed[at(1, c)])
#define room_waiters(c) (listed[at(2 + c, c)])
#define touch(w) assert(frame[w])

inline drain(c) {
  if :: buffered_written[c] -> written[c]++; buffered_written[c] = false :: else fi;
  if :: buffered_taken[c] -> taken[c]++; buffered_taken[c] = false :: else fi
}
inline heavy_fence() {
#ifdef NO_HEAVY_FENCE
  skip
#else
  d_step { drain(0); drain(1) }
#endif
}

/* Wakes one of the waiters a and b, if one is on the list of channel c. Taking the lock drains the caller's buffer. */
inline wake(a, b, c) {
  atomic {
    if
    :: a < 2 && buffered_written[c] -> written[c]++; buffered_written[c] = false
    :: a >= 2 && buffered_taken[c] -> taken[c]++; buffered_taken[c] = false
    :: else
    fi;
    if
    :: listed[at(a, c)] -> w = a
    :: listed[at(b, c)] -> w = b
    :: else -> w = WAITERS
    fi;
    if
    :: w != WAITERS ->
       listed[at(w, c)] = false;
       notified[at(w, c)] = true
#ifndef NOTIFY_UNLOCKED
       ; touch(w); old = phase[w]; phase[w] = READY
#endif
    :: else
    fi
  };
#ifdef NOTIFY_UNLOCKED
  if :: w != WAITERS -> d_step { touch(w); old = phase[w]; phase[w] = READY } :: else fi;
#endif
  if
  :: w != WAITERS && old == SUSPENDED -> d_step { assert(parked[w]); parked[w] = false }
  :: else
  fi;
  d_step { w = 0; old = 0 }
}

/* Waits for items of channels `first` .. `last`, or, if `room`, for room in `first`. */
inline wait_for(me, first, last, room) {
  d_step { frame[me] = true; phase[me] = RUNNING; notified[at(me, 0)] = false; notified[at(me, 1)] = false };
  listed[at(me, first)] = true;
  if :: first != last -> listed[at(me, last)] = true :: else fi;
  heavy_fence();
#ifndef NO_RECHECK
  atomic {
    if
    :: (!room && (has_items(first) || has_items(last))) || (room && has_room(first)) -> ready = true
    :: else -> ready = false
    fi
  };
#endif
  if
  :: ready -> phase[me] = READY
  :: else ->
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
     !parked[me]
  fi;
#ifdef STAY_LISTED
  if :: first != last && !ready :: else -> d_step { listed[at(me, first)] = false; listed[at(me, last)] = false } fi;
#else
  d_step { listed[at(me, first)] = false; listed[at(me, last)] = false };
#endif
  d_step { ready = false; frame[me] = false }
}

/* Takes an item of channel c; sets `got`. */
inline take(c) {
  atomic {
    !buffered_taken[c];        /* the lock of the consumers */
    if
    :: has_items(c) -> got = true;
#ifndef LOOK_EARLY
       buffered_taken[c] = true
#else
       early = room_waiters(c)
#endif
    :: else -> got = false
    fi
  };
  if
#ifdef LOOK_EARLY
  :: got -> atomic { !buffered_taken[c]; buffered_taken[c] = true }; if :: early -> wake(2 + c, 2 + c, c) :: else fi
#else
  :: got -> if :: room_waiters(c) -> wake(2 + c, 2 + c, c) :: else fi
#endif
  :: else
  fi
}

proctype selecting() {
  byte w; mtype old;
  bool got, ready, early;
  byte c;
again:
  if :: c = 0 :: c = 1 fi;
  take(c);
  if :: !got -> c = 1 - c; take(c) :: else fi;
  if
  :: got ->
     got = false;
#ifndef NO_PASS
     c = 1 - c;
     if
     :: notified[at(0, c)] && has_items(c) -> wake(0, 1, c)
     :: else
     fi;
#endif
     d_step { notified[at(0, 0)] = false; notified[at(0, 1)] = false; c = 0 };
     if :: goto again :: goto gone fi
  :: else
  fi;
  wait_for(0, 0, 1, false);
  goto again;
gone:
  skip
}

proctype receiving() {
  byte w; mtype old;
  bool got, ready, early;
again:
  take(0);
  if :: got -> got = false; goto again :: else fi;
  wait_for(1, 0, 0, false);
  /* A wait that timed out gives up, unless it was notified meanwhile. */
#ifdef DROP_TIMED_OUT
  if :: was_timed[1] :: else -> goto again fi
#else
  if :: phase[1] == TIMEOUT :: else -> goto again fi
#endif
}

proctype producing(byte c) {
  byte w, i; mtype old;
  bool ready, early;
  do
  :: i < (c == 0 -> ITEMS : 1) ->
     if
     :: atomic { !buffered_written[c] && has_room(c) ->
#ifdef LOOK_EARLY
        early = item_waiters(c)
#else
        buffered_written[c] = true; i++
#endif
        };
#ifdef LOOK_EARLY
        atomic { buffered_written[c] = true; i++ };
        if :: early -> wake(0, 1, c) :: else fi
#else
        if :: item_waiters(c) -> wake(0, 1, c) :: else fi
#endif
     :: atomic { !buffered_written[c] && !has_room(c) -> skip };
        wait_for(2 + c, c, c, true)
     fi
  :: else -> break
  od
}

/* Store buffers drain at any time. */
active proctype buffers() {
end:
  do
  :: d_step { buffered_written[0] -> written[0]++; buffered_written[0] = false }
  :: d_step { buffered_written[1] -> written[1]++; buffered_written[1] = false }
  :: d_step { buffered_taken[0] -> taken[0]++; buffered_taken[0] = false }
  :: d_step { buffered_taken[1] -> taken[1]++; buffered_taken[1] = false }
  od
}

inline expire(w) {
  d_step {
    frame[w] && !has_expired && (phase[w] == RUNNING || phase[w] == SUSPENDED) ->
    was_timed[w] = true; has_expired = true;
    if :: phase[w] == SUSPENDED -> assert(parked[w]); parked[w] = false :: else fi;
    phase[w] = TIMEOUT
  }
}
active proctype timer() {
end:
  do
  :: expire(0)
  :: expire(1)
  od
}

init {
  byte c;
  atomic { run selecting(); run receiving(); run producing(0); run producing(1) };
end:
  timeout;
  for (c : 0 .. 1) {
    assert(!(item_waiters(c) && has_items(c)) && !(room_waiters(c) && has_room(c)))
  }
}

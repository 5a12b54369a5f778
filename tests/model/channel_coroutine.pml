/* SPDX-License-Identifier: Apache-2.0
 * Coroutines that wait for items of a channel (tasking/src/channel.cpp, channel_suspension).
 *
 * N coroutines receive one item each, or find the channel closed. A producer sends ITEMS items, then the channel is
 * closed. The fences are those of channel.pml, which has store buffers; here memory is sequentially consistent.
 *
 *   coroutine: RUNNING, put it on the list under the lock; nothing there: SUSPENDED by exchange, and if it was RUNNING
 *              leave it to whoever notifies it; something there: take it off the list; try, perhaps again from the start
 *   notifier:  after each item, if somebody is listed: take the first off and exchange NOTIFIED, under the lock; if it
 *              was SUSPENDED, submit it after that
 *
 * Checked: a coroutine continues once for each time that it is left, nobody touches a frame that is gone, all of them
 * end, and no item is left while one finds the channel closed.
 *
 * Faults, each of which the checker must find:
 *  -DNO_CLAIM         a notifier submits a coroutine that it did not find suspended
 *  -DSTORE_SUSPENDED  a coroutine stores SUSPENDED without a look whether it was notified
 *  -DNO_RECHECK       a coroutine does not look at the channel again once it is on the list
 *  -DNOTIFY_UNLOCKED  a notifier changes the phase after it has released the lock
 *  -DTOUCH_LATE       who has left a coroutine touches its frame once more */
#ifndef N
#define N 2
#endif
#ifndef ITEMS
#define ITEMS 2
#endif

mtype = { RUNNING, SUSPENDED, NOTIFIED };

mtype phase[N] = RUNNING;
bool frame[N];      /* ghost: it has not ended */
bool left[N];       /* suspended, and not yet continued */
bool listed[N];
byte order[N];      /* the list, by number; `length` of them */
byte length = 0;
bool lock;
byte items = 0, received = 0, ended = 0;
bool closed;

#define touch(w) assert(frame[w])
inline acquire() { atomic { !lock -> lock = true } }
inline release() { lock = false }

/* Under the lock. */
inline add(w, in_front) {
  d_step {
    assert(!listed[w]);
    if
    :: in_front && length > 0 ->
       i = length;
       do
       :: i > 0 -> order[i] = order[i - 1]; i--
       :: else -> break
       od;
       order[0] = w
    :: else -> order[length] = w
    fi;
    length++; listed[w] = true; i = 0
  }
}
inline take_off(w) {
  d_step {
    i = 0;
    do
    :: order[i] != w -> i++
    :: else -> break
    od;
    do
    :: i + 1 < length -> order[i] = order[i + 1]; i++
    :: else -> break
    od;
    length--; order[length] = 0; listed[w] = false; i = 0
  }
}

#ifdef TOUCH_LATE
proctype leaver(byte w) { touch(w) }
#endif

proctype coroutine(byte me) {
  byte i;
  mtype old;
  bool again, is_ready;

  do
  :: true ->
     phase[me] = RUNNING;
     acquire(); touch(me); add(me, again); release();
#ifdef NO_RECHECK
     is_ready = false;
#else
     is_ready = items != 0 || closed;
#endif
     if
     :: !is_ready ->
#ifdef STORE_SUSPENDED
        phase[me] = SUSPENDED;
        old = RUNNING;
        left[me] = true;
#else
        d_step { old = phase[me]; phase[me] = SUSPENDED; left[me] = old == RUNNING };
#endif
        if
        :: old == RUNNING ->
#ifdef TOUCH_LATE
           run leaver(me);
#endif
           /* Another thread goes on here. */
           !left[me] -> skip
        :: else -> skip
        fi
     :: else ->
        acquire();
        if
        :: listed[me] -> take_off(me)
        :: else -> skip
        fi;
        release()
     fi;
     again = true;
     d_step {
       touch(me);
       if
       :: items != 0 -> items--; received++; frame[me] = false
       :: items == 0 && closed -> frame[me] = false
       :: else -> skip
       fi
     };
     if
     :: !frame[me] -> break
     :: else -> skip
     fi
  od;
  ended++
}

inline wake_one() {
  acquire();
  if
  :: length != 0 ->
     w = order[0];
     take_off(w);
#ifdef NOTIFY_UNLOCKED
     release();
#endif
     d_step { touch(w); old = phase[w]; phase[w] = NOTIFIED };
#ifndef NOTIFY_UNLOCKED
     release();
#endif
     if
#ifdef NO_CLAIM
     :: true ->
#else
     :: old == SUSPENDED ->
#endif
        d_step { touch(w); assert(left[w]); left[w] = false }
#ifndef NO_CLAIM
     :: else -> skip
#endif
     fi
  :: else -> release()
  fi
}

proctype sender() {
  byte sent, w, i;
  mtype old;
  for (sent : 1 .. ITEMS) {
    items++;
    if
    :: length != 0 -> wake_one()
    :: else -> skip
    fi
  }
  acquire(); closed = true; release();
  do
  :: length != 0 -> wake_one()
  :: else -> break
  od;
  ended++
}

init {
  byte c;
  atomic {
    for (c : 0 .. N - 1) {
      frame[c] = true;
      run coroutine(c)
    }
    run sender()
  }
  ended == N + 1 ->
  assert(length == 0);
  assert(received == (N < ITEMS -> N : ITEMS));
  assert(items == ITEMS - received)
}

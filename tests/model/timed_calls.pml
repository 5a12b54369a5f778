/* SPDX-License-Identifier: Apache-2.0
 * Calls that are given up after a time, remote::call_for and call_until (tasking's remote.hpp), against their answers
 * (detail/closure_message.hpp, detail/future_state.hpp).
 *
 * CALLERS strands make CALLS calls of one object each, one after the other. The reply to a call is memory of its own
 * with two references: one of the caller's future, one of the call. The object's worker runs the calls in the order in
 * which they came. The stores of each caller wait in its store buffer, first in, first out; locked instructions drain
 * it. Those of the worker leave its buffer in order, and what others look for is written by a locked instruction.
 *
 *   call:    make the reply, and a closure; send them. If that fails, drop both references
 *   wait:    until the reply is ready or the time is over, which a caller that is registered as listener notices when
 *            it takes itself off. If the reply has become ready by then, the caller waits to be notified:
 *            limited_wait.pml has that in full. Then wait once more, or give up
 *   take:    if the reply is ready: take the outcome, drop the reference
 *   give up: set the reply's flag; mark the reply, so that its exception is not reported; drop the reference
 *   run:     store a failure if the object is destroyed. Otherwise look at the flag: a call that is given up is skipped
 *            and stores a cancellation; any other call has begun, and stores its result or exception. Free the closure
 *   answer:  publish: exchange the list of listeners for `ready`, and notify them; drop the reference of the call. With
 *            -DANSWER_SENT another thread does this, for a message from the worker
 *   drop:    if this is the only reference, free the reply; otherwise subtract it, and free the reply if none is left
 *
 * Checked: nobody touches a free reply. A caller that finds its reply ready takes a whole outcome, which is not a
 * cancellation, and the closure is free by then. No call begins whose caller has come back without the outcome, and
 * none that has begun counts as skipped. No exception of a call that was given up is reported. When nothing can move
 * any more, all callers have come back, and all replies and closures are free.
 *
 * Faults, each of which the checker must find:
 *  -DGIVE_UP_LATE    the flag is set after the caller's reference is dropped
 *  -DUNMARKED        a reply that is given up is not marked
 *  -DLIGHT_DROP      stores before a drop may leave the store buffer after it
 *  -DONE_REFERENCE   the call has no reference of its own
 *  -DDROP_STORED     the count is loaded and then stored
 *  -DDROP_FIRST      the reference of the call is dropped before the reply is published
 *  -DPUBLISH_FIRST   the reply is published before its outcome is stored
 *  -DPUBLISH_STORED  the list of listeners is loaded, and then `ready` is stored
 *  -DCLOSURE_LATE    the closure is freed after the answer
 *  -DFLAG_EARLY      the flag is read when the message comes, and the call begins later
 *  -DFLAG_LATE       the flag is read after the call has begun, and counts as if it had not
 *  -DFLAG_UNREAD     the flag is not read
 *  -DNUMBER_UNCUT    the number of the object, in whose place the flag is, looks like it
 *  -DDISOWN_FIRST    if sending fails, the caller drops its own reference only */
#ifndef CALLERS
#define CALLERS 1
#endif
#ifndef CALLS
#define CALLS 2
#endif
#define REPLIES (CALLERS * CALLS)

mtype = { NOBODY, LISTENS, READY };                       /* the list of listeners */
mtype = { NONE, VALUE, EXCEPTION, REFUSED, CANCELLED };   /* outcomes */
mtype = { WRITE_FLAG, WRITE_MARK };

chan messages = [REPLIES] of { byte };
chan answers = [REPLIES] of { byte };

/* Replies. A result is written in two parts. */
byte references[REPLIES];
bool flag[REPLIES], marked[REPLIES];
mtype listeners[REPLIES] = NOBODY;
mtype first[REPLIES] = NONE, second[REPLIES] = NONE;
bool resumed[REPLIES];              /* the caller that listens */
bool closure[REPLIES];

chan buffer[CALLERS] = [2] of { mtype, byte };            /* store buffers of the callers */

/* Ghosts. */
bool lives[REPLIES];
bool begun[REPLIES], left[REPLIES]; /* `left`: the caller came back without the outcome */
byte back;                          /* callers that have made all calls */

#define touch(r) assert(lives[r])

inline write(r) {
  touch(r);
  if
  :: op == WRITE_FLAG -> flag[r] = true
  :: op == WRITE_MARK -> marked[r] = true
  fi;
  op = 0; r = 0
}

/* Store buffers drain at any time. */
active proctype buffers() {
  mtype op; byte r;
end:
  do
  :: atomic { buffer[0] ? op, r -> write(r) }
#if CALLERS > 1
  :: atomic { buffer[1] ? op, r -> write(r) }
#endif
  od
}

inline free(r) {
  touch(r);
  assert(first[r] == NONE || first[r] == VALUE || marked[r]);   /* or it is reported */
  lives[r] = false;
  /* Memory that is free has one state. */
  references[r] = 0; flag[r] = false; marked[r] = false; resumed[r] = false; listeners[r] = NOBODY;
  first[r] = NONE; second[r] = NONE; begun[r] = false; left[r] = false
}

/* `fence`: the store buffer is empty. */
#ifdef LIGHT_DROP
#define drained(fence) true
#else
#define drained(fence) (fence)
#endif
inline drop(r, fence) {
  atomic { touch(r); count = references[r] };
  if
  :: atomic { count == 1 && (fence) -> free(r); count = 0 }
#ifdef DROP_STORED
  :: count != 1 -> atomic { drained(fence) -> touch(r); count--; references[r] = count }
#else
  :: atomic {
       count != 1 && drained(fence) ->
       touch(r); references[r]--; count = 0;
       if
       :: references[r] == 0 && (fence) -> free(r)
       :: references[r] != 0
       fi
     }
#endif
  fi
}

/* --- The object's worker -------------------------------------------------------------------------------------- */

inline publish(r) {
#ifdef PUBLISH_STORED
  atomic { touch(r); was = listeners[r] };
  atomic { touch(r); listeners[r] = READY };
#else
  atomic { touch(r); was = listeners[r]; listeners[r] = READY };
#endif
  if
  :: was == LISTENS -> resumed[r] = true
  :: else
  fi;
  was = 0
}

inline answer(r) {
#ifdef DROP_FIRST
  drop(r, true);
  publish(r)
#else
  publish(r);
  drop(r, true)
#endif
}

inline store(outcome) {
#ifdef PUBLISH_FIRST
  closure[c] = false;
  publish(c);
#endif
  atomic { touch(c); first[c] = outcome };
  atomic { touch(c); second[c] = outcome }
}

active proctype worker() {
  byte c, count;
  mtype was;
  bool skips;
end:
  messages ? c;
#ifdef FLAG_EARLY
  atomic { touch(c); skips = flag[c] };
#endif
  if
  :: store(REFUSED)                 /* the object is gone */
  :: atomic {                       /* begins, or is skipped */
       touch(c);
#if !defined(FLAG_EARLY) && !defined(FLAG_LATE) && !defined(FLAG_UNREAD)
       skips = flag[c];
#endif
       if
       :: skips
       :: else -> assert(!left[c]); begun[c] = true
       fi
     };
#ifdef FLAG_LATE
     atomic { touch(c); skips = flag[c] };
#endif
     if
     :: skips -> assert(!begun[c]); store(CANCELLED)
     :: !skips -> store(VALUE)
     :: !skips -> store(EXCEPTION)
     fi
  fi;
#ifndef CLOSURE_LATE
  closure[c] = false;
#endif
#if defined(PUBLISH_FIRST)
  drop(c, true);
#elif defined(ANSWER_SENT)
  answers ! c;
#else
  answer(c);
#endif
#ifdef CLOSURE_LATE
  closure[c] = false;
#endif
  atomic { c = 0; skips = false; goto end }
}

#ifdef ANSWER_SENT
active proctype teller() {
  byte c, count;
  mtype was;
end:
  answers ? c;
  answer(c);
  atomic { c = 0; goto end }
}
#endif

/* --- The callers ----------------------------------------------------------------------------------------------- */

#define FENCE len(buffer[me]) == 0

proctype caller(byte me) {
  byte r = me * CALLS, count;
  mtype outcome;
  bool is_there;

call:
  atomic {
    lives[r] = true; closure[r] = true;
#ifdef ONE_REFERENCE
    references[r] = 1;
#else
    references[r] = 2;
#endif
#ifdef NUMBER_UNCUT
    flag[r] = true
#endif
  };
  if
  :: messages ! r
  :: closure[r] = false;            /* sending fails */
#ifndef DISOWN_FIRST
     drop(r, FENCE);
#endif
     drop(r, FENCE);
     goto ended
  fi;

wait:
  if
  :: atomic { listeners[r] == READY -> touch(r); is_there = true }
  :: atomic { listeners[r] != READY -> touch(r) }       /* the time is over */
  :: atomic { (FENCE) && listeners[r] == NOBODY -> touch(r); listeners[r] = LISTENS };
     if
     :: resumed[r] -> is_there = true
     :: atomic { listeners[r] == LISTENS -> touch(r); listeners[r] = NOBODY }   /* the time is over */
     fi
  fi;
  if
  :: is_there ->
     is_there = false;
     atomic { touch(r); assert(!closure[r]); outcome = first[r] };
     atomic {
       touch(r); assert(outcome == second[r] && outcome != NONE && outcome != CANCELLED);
       if :: outcome == EXCEPTION || outcome == REFUSED -> first[r] = NONE :: else fi;
       outcome = 0
     };
     drop(r, FENCE)
  :: !is_there -> goto wait
  :: !is_there ->
#ifdef GIVE_UP_LATE
     buffer[me] ! WRITE_MARK, r;
     drop(r, FENCE);
     atomic { touch(r); buffer[me] ! WRITE_FLAG, r };
#else
     atomic { touch(r); buffer[me] ! WRITE_FLAG, r };
#ifndef UNMARKED
     atomic { touch(r); buffer[me] ! WRITE_MARK, r };
#endif
     drop(r, FENCE);
#endif
     atomic { left[r] = lives[r] }
  fi;
ended:
  atomic {
    r++;
    if
    :: r < (me + 1) * CALLS -> goto call
    :: else -> back++
    fi
  }
}

init {
  byte r;
  atomic { for (r : 0 .. CALLERS - 1) { run caller(r) }; r = 0 };
end:
  timeout;
  assert(back == CALLERS);
  for (r : 0 .. REPLIES - 1) { assert(!lives[r] && !closure[r]) }
}

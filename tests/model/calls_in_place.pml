/* SPDX-License-Identifier: Apache-2.0
 * A strand calls an object of its own worker while messages for the worker arrive (message_service::handle_here,
 * message_box::take_next_for). Messages come by the rings of two other workers, by the list of a thread outside (with
 * -DOUTSIDE, in place of one ring), and from the worker itself. message_turns.pml has turns in full, and the reader of
 * rings, which is one step here; pair_ring.pml has the rings. Each draw of a turn empties a store buffer, so there are
 * none. Messages are for the object that is called, or for another one.
 *
 *   send:    as in message_turns.pml: a sender that has heard of others draws a turn
 *   call:    if nothing waits for the worker, run the call. Otherwise draw a turn for it, send it to the own worker,
 *            and take messages, one at a time, while the next one with an earlier turn is for the object. If none is
 *            left, take the call back and run it in place, unless the loop has taken it meanwhile
 *   take:    scan for the message with the earliest turn before the call's; here, once more for one before that
 *   scan:    the list from outside joins what has come; look at the heads of the rings, one after the other; then at
 *            what has come from outside and from the worker itself
 *   handler: sends its own worker a message, or tells a sender what it knows, or does neither. One that runs in place
 *            may wait then, and the loop runs meanwhile (-DWAITS)
 *   mailbox: a message to an object that runs one waits there. A strand that has run one in place sends its worker a
 *            message that has these run (remote_cell::take_here)
 *   loop:    while no strand keeps the worker: take the message with the earliest turn
 *
 * Checked: each message is taken once, after all that its sender knew of, and so is the call. What a handler sends
 * after the call began, and a sender who was told of that, does not run on the object before the call, as it may wait
 * for what the caller does next. When nothing can move any more, all were run.
 *
 * Faults, each of which the checker must find:
 *  -DSENT_LATE       the call is sent when a message for another object comes before it, behind what handlers have sent
 *  -DRUN_ANYWAY      the call runs in place then
 * and, with -DSENT_LATE and all messages for one object (-DONE_OBJECT), which without these is no fault:
 *  -DWAITS           what a handler in place has sent to the object comes into the mailbox while it waits
 *  -DNO_LIMIT        messages are taken whatever their turn
 *  -DLIMIT_AFTER     the call's turn is drawn after the first message was taken
 *  -DHANDLER_SILENT  a handler does not follow others, so that what it sends has an old turn
 *
 * No faults:
 *  -DONE_SCAN        no second scan: what the sender of a message knew of was there when that message's turn was drawn,
 *                    before that of the call and the first scan
 *  -DLIMIT_LATE      with -DSENT_LATE: the call's turn is drawn after the first scan, which has no limit */
#ifndef POSTS
#define POSTS 1   /* of each sender */
#endif
#ifndef TELLS
#define TELLS 1   /* of all senders */
#endif
#ifndef OWN
#define OWN 1     /* of the caller, before the call */
#endif
#ifndef HANDLED
#define HANDLED 1 /* messages and tells of all handlers */
#endif
#define MESSAGES (2 * POSTS + OWN + HANDLED)
#define CALL 7    /* more than the numbers of messages */
#define RUN_WAITING 8
#define NONE 255
#define CALLER 2
#define bit(m) (1 << (m))

/* In memory. */
byte turns = 1;
chan ring[2] = [POSTS] of { byte, byte };            /* turn, message */
chan outside = [POSTS] of { byte, byte };
chan inbox[3] = [1] of { byte };                     /* the last one is the caller's */

/* Of the worker that is called. */
chan own = [MESSAGES + 2] of { byte, byte };
chan came = [POSTS] of { byte, byte };
byte own_turn;
bool follows = true;
bool kept = true;                                    /* by the strand that calls */
bool object_runs;
chan waiting = [MESSAGES + 2] of { byte };           /* in the object's mailbox */

/* Ghosts. */
byte made, handled, tells;
byte known[8];                                       /* to the sender */
byte others;                                         /* messages to another object */
byte taken, ended;
bool begun, called;

inline draw(turn) {
  turn = turns; turns++
}
inline begin_message(m, knowing) {
  m = made; made++; known[m] = knowing
#ifndef ONE_OBJECT
  ; if :: others = others | bit(m) :: true fi
#endif
}
inline keep(m) {
  if :: follows -> follows = false; draw(own_turn) :: else fi;
  own ! own_turn, m
}

/* --- Messages are run ----------------------------------------------------------------------------------------- */

inline run_message(m) {
  if
  :: m != CALL ->
#ifndef HANDLER_SILENT
     follows = true;
#endif
     knowing = known[m] | bit(m) | (begun -> bit(CALL) : 0);
     if
     :: called
     :: handled < HANDLED && !called -> handled++; begin_message(made_here, knowing); keep(made_here)
     :: handled < HANDLED && !called && nfull(inbox[0]) -> handled++; inbox[0] ! knowing
     :: !called
     fi;
     knowing = 0; made_here = 0
  :: m == CALL
  fi
}
/* To the object that is called. */
inline run_alone(m) {
  assert((known[m] & ~ended) == 0);
  run_message(m)
}
inline end_message(m) {
  ended = ended | bit(m); known[m] = 0; others = others & ~bit(m);
  if :: m == CALL -> called = true :: else fi
}
inline begin_to_take(m) {
  assert(!(taken & bit(m)));
  assert((known[m] & ~bit(CALL) & ~taken) == 0);
  taken = taken | bit(m)
}

/* In the worker's loop, in one step. */
inline take_in_loop(m) {
  if
  :: m == RUN_WAITING ->
     do
     :: nempty(waiting) -> waiting ? m; run_alone(m); end_message(m)
     :: empty(waiting) -> break
     od;
     object_runs = false
  :: m != RUN_WAITING ->
     begin_to_take(m);
     if
     :: others & bit(m) -> run_message(m); end_message(m)
     :: !(others & bit(m)) && object_runs -> waiting ! m
     :: !(others & bit(m)) && !object_runs -> run_alone(m); end_message(m)
     fi
  fi
}

/* --- The worker looks ----------------------------------------------------------------------------------------- */

inline move_outside() {
  do
  :: nempty(outside) -> outside ? t, i; came ! t, i
  :: empty(outside) -> break
  od;
  t = 0; i = 0
}
inline look_at(queue, number) {
  if
  :: nempty(queue) ->
     queue ? <t, i>;
     if :: t < found -> found = t; from = number :: else fi
  :: empty(queue)
  fi;
  t = 0; i = 0
}
inline scan(limit) {
  d_step { move_outside(); found = limit; from = NONE };
  d_step { look_at(ring[0], 0) };
  d_step { look_at(ring[1], 1); look_at(own, 2); look_at(came, 3) }
}
inline head_of(m) {
  if
  :: from == 0 -> ring[0] ? <_, m>
  :: from == 1 -> ring[1] ? <_, m>
  :: from == 2 -> own ? <_, m>
  :: from == 3 -> came ? <_, m>
  fi
}
inline pop(m) {
  if
  :: from == 0 -> ring[0] ? _, m
  :: from == 1 -> ring[1] ? _, m
  :: from == 2 -> own ? _, m
  :: from == 3 -> came ? _, m
  fi
}

active proctype loop() {
  byte t, i, found, from, m, knowing, made_here;
end:
  do
  :: atomic {
       !kept && (nempty(ring[0]) || nempty(ring[1]) || nempty(outside) || nempty(came) || nempty(own)) ->
       move_outside(); found = NONE;
       look_at(ring[0], 0); look_at(ring[1], 1); look_at(own, 2); look_at(came, 3);
       pop(m);
       take_in_loop(m);
       found = 0; from = 0; m = 0
     }
  od
}

/* --- The caller ----------------------------------------------------------------------------------------------- */

inline run_here(m) {
  atomic {
    begin_to_take(m);
    if
    :: object_runs -> waiting ! m
    :: !object_runs ->
       object_runs = true; run_alone(m);
#ifdef WAITS
       if :: m != CALL -> kept = false :: true fi;
#endif
       runs = true
    fi
  };
#ifdef WAITS
  atomic { if :: !kept -> kept = true; follows = true :: else fi };
#endif
  atomic {
    if
    :: runs ->
       end_message(m);
       if
       :: nempty(waiting) -> keep(RUN_WAITING)
       :: empty(waiting) -> object_runs = false
       fi;
       runs = false
    :: !runs
    fi
  }
}

active proctype caller() {
  byte t, i, found, from, first, limit, m, knowing, made_here, knows, posts;
  bool runs, is_first, any;
  do
  :: atomic { posts < OWN -> begin_message(m, knows); keep(m); knows = knows | bit(m); posts++; m = 0 }
  :: atomic { inbox[CALLER] ? t -> knows = knows | t; follows = true; t = 0 }
  :: break
  od;
  atomic {
    begun = true; known[CALL] = knows; knows = 0; posts = 0;
    any = nempty(outside) || nempty(came) || nempty(own)
  };
  any = any || nempty(ring[0]);
  any = any || nempty(ring[1]);
  is_first = !any;
  if
  :: any ->
     atomic {
#if defined(LIMIT_LATE) || defined(LIMIT_AFTER) || defined(NO_LIMIT)
       limit = NONE
#else
       draw(limit);
#ifndef SENT_LATE
       follows = false; own_turn = limit; own ! limit, CALL
#endif
#endif
     };
     do
     :: scan(limit);
#ifdef LIMIT_LATE
        atomic { if :: limit == NONE -> draw(limit) :: else fi };
#endif
        if
        :: from == NONE -> is_first = true; break
        :: else
        fi;
#ifndef ONE_SCAN
        first = from;
        scan(found);
        atomic { if :: from == NONE -> from = first :: else fi; first = 0 };
#endif
        atomic {
          head_of(m);
          if
          :: m == RUN_WAITING || (others & bit(m)) ->
             m = 0;
#ifdef RUN_ANYWAY
             is_first = true;
#endif
             break
          :: else -> pop(m); from = 0; found = 0
          fi
        };
        run_here(m);
        m = 0;
#ifdef LIMIT_AFTER
        atomic { if :: limit == NONE -> draw(limit) :: else fi }
#endif
     od
  :: !any
  fi;
  atomic { found = 0; from = 0; m = CALL };
#ifdef SENT_LATE
  if :: is_first -> run_here(m) :: else -> atomic { keep(m) } fi;
#else
  atomic {
    if
    :: any && is_first ->
       if :: nempty(own) -> own ? <t, _> :: empty(own) -> t = NONE fi;
       if :: t == limit -> own ? _, m; assert(m == CALL) :: else -> is_first = false fi;
       t = 0
    :: else
    fi
  };
  if :: is_first -> run_here(m) :: else fi;
#endif
  atomic { kept = false; limit = 0; m = 0; any = false; is_first = false }
}

/* --- The senders ---------------------------------------------------------------------------------------------- */

proctype sender(byte me) {
  byte knows, told, posts, turn, m, to;
  bool heard = true;
  do
  :: posts < POSTS ->
     atomic {
       begin_message(m, knows);
#ifdef OUTSIDE
       if :: heard || me == 1 -> heard = false; draw(turn) :: else fi
#else
       if :: heard -> heard = false; draw(turn) :: else fi
#endif
     };
     atomic {
#ifdef OUTSIDE
       if :: me == 0 -> ring[0] ! turn, m :: me == 1 -> outside ! turn, m; turn = 0 fi;
#else
       ring[me] ! turn, m;
#endif
       knows = knows | bit(m); m = 0; posts++
     }
  :: atomic {
       tells < TELLS && knows != 0 && !called ->
       if :: to = 1 - me :: !begun -> to = CALLER fi;
       if :: nfull(inbox[to]) -> inbox[to] ! knows; tells++ :: full(inbox[to]) fi;
       to = 0
     }
  :: atomic { inbox[me] ? told -> knows = knows | told; told = 0; heard = true }
  :: atomic { posts == POSTS || called -> knows = 0; posts = 0; heard = false; break }
  od
}

init {
  atomic { run sender(0); run sender(1) };
end:
  timeout;
  assert(called);
  assert(taken == (bit(made) - 1 | bit(CALL)));
  assert(ended == taken)
}

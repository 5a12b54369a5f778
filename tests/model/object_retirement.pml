/* SPDX-License-Identifier: Apache-2.0
 * The end of an object on a worker, with messages to it under way (tasking/src/remote_cell.cpp, ext/mailbox.hpp).
 *
 * Handles share the object's cell. Each of SENDERS workers has one, sends POSTS messages and drops it; a kept post is
 * one more such sender. Messages wait in the ring of their sender, with turns: message_turns.pml has the reader in
 * full. A sender that drops its handle tells the others by the count, which nobody follows, so its ring may go on with
 * an old turn. The drop is a locked instruction, before which all that the sender has stored leaves its store buffer;
 * the model therefore has a buffer with -DLIGHT_DROP only.
 *
 *   drop:    handles - 1. The last drop deletes the cell if the runtime has ended, and sends a retirement otherwise
 *   take:    the mailbox lets a message run if none runs; otherwise a copy of it waits there
 *   run:     run the message, which may suspend; then what waits in the mailbox, until that is empty
 *   retire:  the first retirement sends the own worker another one, which draws a turn. The second one, or the only one
 *            where messages are causal (-DCAUSAL), destroys the object and deletes the cell
 *   shared:  senders take their messages themselves, one at a time, and have them run as tasks (-DSHARED, and causal)
 *   here:    a strand of the object's worker has a handle, too. Its call runs at once if no message waits for the
 *            worker; a message to the own worker, past the mailbox, then runs what has come meanwhile. The call sends
 *            the object a message that waits for what the strand does next (-DHERE)
 *   destroy: each sender has the object destroyed by a message, unless another one did so before (-DDESTROYS)
 *   outside: a thread that is no worker has a handle, too, and sends one message (-DOUTSIDE)
 *   end:     end_all: if the object has not been told, add a handle unless none is left, and send the object its end.
 *            Repeat that when a worker has slept again, until the object has ended. let_go: take the cell off the list,
 *            set `ended`, drop that handle; wait for threads that are in a send. The thread outside drops its handle at
 *            any time (-DENDS). shutdown.cpp finds out by a counter that all is quiet, which is one step here
 *
 * Checked: messages of one sender are run in order, and one at a time; none comes to a cell that is deleted, or to an
 * object that is destroyed but by a request; nobody touches a deleted cell, or a runtime that is gone. When nothing can
 * move any more, all messages were run, the object is destroyed and the cell deleted.
 *
 * Faults, each of which the checker must find:
 *  -DONE_RETIREMENT   the first retirement deletes the cell
 *  -DNO_TURN          the second one has the turn of the worker's last message to itself
 *  -DDROP_FIRST       a sender drops its handle before its last message, as if a kept post had none
 *  -DLIGHT_DROP       stores before a drop may leave the store buffer after it
 *  -DUNADMITTED       a retirement does not wait in the mailbox
 *  -DSTOP_AT_FIRST    messages that wait behind the first retirement are not run then
 *  -DEND_HERE         with -DHERE: the call in place ends without a look into the mailbox
 *  -DRUN_HERE         the strand itself runs what has come meanwhile
 *  -DWAITING_ADMITTED the message that has it run waits in the mailbox, too
 *  -DHERE_FIRST       the call runs in place although messages wait for the worker
 *  -DDESTROY_AT_ONCE  with -DDESTROYS: the sender destroys the object itself
 *  -DUNLOCKED         with -DSHARED: two may take messages at a time
 *  -DTOUCH_LATE       a task that has found the mailbox empty touches it once more
 *  -DADD_TO_NONE      with -DENDS: end_all adds a handle though none is left
 *  -DADD_LATE         it reads the count, and adds a handle though the last one may be gone by then
 *  -DEND_UNHELD       it adds none
 *  -DTOLD_AGAIN       it adds one each time
 *  -DUNCOUNTED        it takes an object without handles for ended
 *  -DREMOVE_UNLOCKED  a cell leaves the list without its lock
 *  -DREMOVE_LATE      a cell that is deleted after the runtime looks for the list
 *  -DENDED_LATE       `ended` is set after the handle is dropped
 *  -DNO_VISIT         the end does not wait for the thread that is in a send */
#ifndef SENDERS
#define SENDERS 2
#endif
#ifndef POSTS
#define POSTS 1
#endif
#ifdef ENDS
#define OUTSIDE
#endif
#ifdef SHARED
#define CAUSAL
#endif
#ifdef OUTSIDE
#define OUTSIDERS 1
#else
#define OUTSIDERS 0
#endif
#ifdef HERE
#define STRANDS 1
#else
#define STRANDS 0
#endif
#define OUTSIDER SENDERS            /* number of a sender */
#define STRAND (SENDERS + OUTSIDERS)
#define ALL (STRAND + STRANDS)
#ifdef CAUSAL
#define QUEUES 1                    /* for all messages */
#define under_way len(queue[0])
#else
#define QUEUES (STRAND + 1)         /* a ring for each sender, the list of those from outside, those to itself */
#if SENDERS == 1
#define in_rings len(queue[0])
#else
#define in_rings (len(queue[0]) + len(queue[1]))
#endif
#ifdef OUTSIDE
#define under_way (in_rings + len(queue[OUTSIDER]) + len(queue[STRAND]))
#else
#define under_way (in_rings + len(queue[STRAND]))
#endif
#endif
#define MAX (SENDERS * POSTS + 7)   /* messages that may wait */
#define NONE 255

mtype = { CALL, LATER, RETIRE, WAITING, DESTROY, END };

/* Messages under way: turn, kind, sender, number. With SHARED these are the tasks. */
chan queue[QUEUES] = [MAX] of { byte, mtype, byte, byte };
byte turns = 1, own_turn, turn_of[QUEUES];

/* The cell. */
byte handles = ALL;
bool dead, came;                    /* the object ends; the first retirement came */
bool is_running;                    /* the mailbox: a message runs, others wait */
chan mailbox = [MAX] of { mtype, byte, byte };
bool ended, object_ended, told;     /* entry of the list of objects */

/* The worker and its runtime. */
bool busy;                          /* a strand runs on the worker */
byte waits;                         /* suspended strands; with SHARED: tasks that run */
byte leavers;                       /* strands that have ended, and those outside that send no more calls */
bool in_list = true, list_lock;
bool woken = true;                  /* the worker has slept since */
byte visitors;                      /* those that send the first retirement */
bool answered, went_on;

/* Ghosts. */
bool alive = true, object = true, gone;   /* the cell, the object; the runtime */
bool in_call, early;                /* `early`: the object ends before the last handle is dropped */
byte sent[ALL], handled[ALL];

#define touch() assert(alive)

inline draw(turn) {
  turn = turns; turns++
}

/* A message of the worker to itself. */
inline keep(k, s, number, is_last) {
#ifdef CAUSAL
  queue[0] ! 0, k, s, number
#else
  if :: is_last -> draw(own_turn) :: else fi;
  queue[STRAND] ! own_turn, k, s, number
#endif
}

/* --- The object's worker --------------------------------------------------------------------------------------- */

/* Sets `runs` if the message may run. One step: with SHARED under the mailbox's lock. */
inline admit(k, s, number) {
  touch();
  if
  :: !is_running -> is_running = true; runs = true
  :: is_running -> mailbox ! k, s, number
  fi
}
inline forget() {
  runs = false; kind = 0; who = 0; n = 0
}
/* Goes on with the next message that waits. */
inline next() {
  touch();
  if
  :: nempty(mailbox) -> mailbox ? kind, who, n
  :: empty(mailbox) -> is_running = false; forget()
  fi
}

inline begin_call() {
  touch(); assert(!in_call && (object || early));
  in_call = true;
  if
  :: kind == CALL -> handled[who]++; assert(handled[who] == n)
  :: else
  fi
}
inline end_call() {
  touch(); in_call = false;
  answered = answered || who == STRAND && n == sent[who]
}
inline destroy_object() {
  touch(); assert(!in_call);
  dead = true; object = false
}
inline delete_cell() {
#ifndef REMOVE_LATE
  if
  :: ended
  :: !ended ->
#endif
#ifdef REMOVE_UNLOCKED
     atomic { assert(!gone); in_list = false }
#else
     atomic { !list_lock -> assert(!gone); in_list = false }
#endif
#ifndef REMOVE_LATE
  fi
#endif
  ;
  atomic {
    touch(); assert(handles == 0 && !object && empty(mailbox));
    alive = false; is_running = false
  }
}

#ifdef SHARED
#define suspend() skip
#define resume(event) event
#else
/* Others run on the worker meanwhile. */
#define suspend() busy = false; waits++
#define resume(event) (event) && !busy -> busy = true; waits--
#endif
#if defined(CAUSAL) || defined(ONE_RETIREMENT)
#define retires true
#else
#define retires came
#endif

/* Runs a message, and what waits then. */
inline run_from() {
  do
  :: atomic { runs && (kind == CALL || kind == LATER) -> begin_call(); suspend() };
     atomic { resume(kind == CALL || went_on); end_call(); next() }
#ifdef TOUCH_LATE
     ; touch()
#endif
  :: atomic {
       runs && (kind == DESTROY || kind == END) ->
       early = true; destroy_object();
       if :: kind == END -> object_ended = true :: else fi;
       next()
     }
  :: atomic {
       runs && kind == RETIRE && !retires -> touch(); came = true;
#ifdef NO_TURN
       keep(RETIRE, 0, 0, false);
#else
       keep(RETIRE, 0, 0, true);
#endif
#ifdef STOP_AT_FIRST
       forget()
#else
       next()
#endif
     }
  :: atomic { runs && kind == RETIRE && retires -> destroy_object(); suspend() };
     atomic { resume(true) };
     delete_cell();
     atomic { forget() }
  :: !runs -> break
  od
}

/* Takes a message of queue[at - 1]. */
inline take() {
  atomic {
    queue[at - 1] ? t, kind, who, n;
    turn_of[at - 1] = t; t = 0; at = 0; woken = true;
    if
#ifdef SHARED
    :: true -> waits++; runs = true
#else
#ifdef UNADMITTED
    :: kind == RETIRE -> runs = true
#endif
#ifdef WAITING_ADMITTED
    :: kind == WAITING && !is_running -> is_running = true; runs = true; mailbox ? kind, who, n
#else
    :: kind == WAITING -> touch(); runs = true; mailbox ? kind, who, n
#endif
    :: else -> admit(kind, who, n); if :: !runs -> forget() :: runs fi
#endif
    fi
  };
  run_from()
}

/* Sets `t` to the turn of the first message. */
inline look(q) {
  if
  :: nempty(queue[q]) -> queue[q] ? <t, kind, who, n>; kind = 0; who = 0; n = 0
  :: empty(queue[q]) -> t = NONE
  fi
}

/* One of the worker's fibers. */
proctype fiber(bool is_first) {
  byte t, who, n, at = 1;
  mtype kind;
  bool runs;
#ifdef SHARED
end:
  take();
  atomic { waits--; at = 1; goto end }
#elif defined(CAUSAL)
end:
  atomic { !busy && under_way > 0 && (is_first || waits > 0) -> busy = true };
  take();
  atomic { busy = false; at = 1; goto end }
#else
  byte q, last, turn;
end:
  atomic { !busy && under_way > 0 && (is_first || waits > 0) -> busy = true; at = 0 };
  do
  :: atomic {
       q < QUEUES ->
       look(last);
       if
       :: last < SENDERS && t == turn_of[last] -> at = last + 1
       :: else ->
          look(q);
          if
          :: t == NONE -> q++
          :: t != NONE && q < SENDERS && t == turn_of[q] -> at = q + 1
          :: else -> turn = t; at = q + 1; last = 0
          fi
       fi;
       t = 0
     };
     if
     :: turn != 0 ->                /* what has an earlier turn comes first */
        do
        :: atomic {
             last < QUEUES ->
             look(last);
             if :: t < turn -> turn = t; at = last + 1 :: else fi;
             t = 0; last++
           }
        :: atomic { last == QUEUES -> turn = 0; break }
        od
     :: else
     fi;
     if
     :: at != 0 -> last = at - 1; take()
     :: else
     fi
  :: atomic { q == QUEUES -> busy = false; q = 0; last = 0; break }
  od;
  goto end
#endif
}

/* --- Those with handles ---------------------------------------------------------------------------------------- */

#ifdef LIGHT_DROP
chan late[ALL] = [MAX] of { byte, mtype, byte, byte };
active proctype buffers() {
  byte t, who, n; mtype kind;
end:
  do
  :: atomic { late[0] ? t, kind, who, n -> queue[0] ! t, kind, who, n; t = 0; kind = 0; who = 0; n = 0 }
  :: atomic { late[1] ? t, kind, who, n -> queue[1] ! t, kind, who, n; t = 0; kind = 0; who = 0; n = 0 }
  od
}
#define ring(q) late[q]
#else
#define ring(q) queue[q]
#endif

/* A message of a worker, by its ring, or of the thread outside. */
inline send(k, number) {
#ifdef SHARED
#ifdef UNLOCKED
  atomic { touch(); runs = !is_running };
  atomic { if :: runs -> is_running = true :: !runs -> mailbox ! k, me, number fi };
#else
  atomic { admit(k, me, number) };
#endif
  atomic { if :: runs -> assert(!gone); runs = false; queue[0] ! 0, k, me, number :: !runs fi }
#elif defined(CAUSAL)
  atomic { touch(); assert(!gone); queue[0] ! 0, k, me, number }
#else
  if
  :: atomic { touch(); assert(!gone); draw(turn) }
  :: turn != 0 && me != OUTSIDER -> touch()
  fi;
  ring(me) ! turn, k, me, number
#endif
}

inline drop_handle() {
  atomic { touch(); assert(handles > 0); handles--; last = (handles == 0) };
  if
  :: last ->
     if
     :: ended -> delete_cell()
     :: !ended ->
        atomic { assert(!gone); visitors++ };
        send(RETIRE, 0);
        atomic { assert(!gone); visitors-- }
     fi;
     last = false
  :: !last
  fi
}

proctype sender(byte me) {
  byte turn, posts = POSTS;
  bool runs, last;
#ifdef DESTROYS
  bool asks = true;
#endif
more:
#ifdef DROP_FIRST
  if :: posts == 1 -> drop_handle() :: else fi;
#endif
  atomic { posts--; sent[me]++ };
  send(CALL, sent[me]);
  if :: posts > 0 -> goto more :: else fi;
#ifdef DESTROYS
  atomic { touch(); asks = !dead; dead = true };
  if
  :: asks ->
#ifdef DESTROY_AT_ONCE
     atomic { early = true; destroy_object() }
#else
     send(DESTROY, 0)
#endif
  :: !asks
  fi;
#endif
#ifndef DROP_FIRST
  drop_handle();
#endif
  atomic { leavers++; turn = 0 }
}

#ifdef OUTSIDE
proctype outsider(byte me) {
  byte turn;
  bool runs, last;
  atomic { sent[me]++ };
  send(CALL, 1);
  leavers++;
  drop_handle();
  turn = 0
}
#endif

#ifdef HERE
/* A strand of the object's worker. */
proctype strand(byte me) {
  byte who, n;
  mtype kind;
  bool runs;
  atomic { !busy -> busy = true };
  if
  :: atomic { sent[me]++; keep(CALL, me, sent[me], true) }
  :: true
  fi;
  if
  :: true
  :: atomic { busy = false; waits++ }; atomic { !busy -> busy = true; waits-- }
  fi;
  atomic {
    sent[me]++; answered = false;
    if
#ifdef HERE_FIRST
    :: true ->
#else
    :: under_way == 0 ->
#endif
       kind = CALL; who = me; n = sent[me];
       admit(kind, who, n)
#ifndef HERE_FIRST
    :: else -> keep(CALL, me, sent[me], false)
#endif
    fi
  };
  if
  :: atomic { runs -> begin_call(); keep(LATER, 0, 0, false); suspend() };
     atomic {
       resume(true);
       end_call();
#ifdef RUN_HERE
       next()
#else
#ifdef END_HERE
       is_running = false;
#else
       if
       :: nempty(mailbox) -> keep(WAITING, 0, 0, false)
       :: empty(mailbox) -> is_running = false
       fi;
#endif
       forget()
#endif
     }
#ifdef RUN_HERE
     ; run_from()
#endif
  :: atomic { !runs -> forget(); suspend() };
     atomic { resume(answered) }
  fi;
  atomic {
    went_on = true;
    touch(); handles--;
    if :: handles == 0 -> keep(RETIRE, 0, 0, true) :: else fi;
    leavers++; busy = false
  }
}
#endif

#ifdef ENDS
#define is_quiet (leavers == ALL && !busy && waits == 0 && under_way == 0)
#ifdef END_UNHELD
#define ADDED 0
#else
#define ADDED 1
#endif
/* The last worker to fall asleep; the first sender was on it. */
proctype ender(byte me) {
  byte turn, count;
  bool runs, last, any, tells;
again:
  atomic { is_quiet && woken -> woken = false; any = false };
  atomic { !list_lock -> list_lock = true };
  if
  :: in_list ->
     atomic {
       touch();
#ifdef UNCOUNTED
       any = !object_ended && handles > 0;
#else
       any = !object_ended;
#endif
#ifdef TOLD_AGAIN
       told = false;
#endif
       if
       :: told -> count = 0
       :: !told -> told = true; tells = true; count = handles
       fi
     };
     do
     :: atomic {
          tells && (count == 0
#ifdef ADD_TO_NONE
          && false
#endif
          ) -> tells = false; break
        }
     :: atomic {
          tells && (count > 0
#ifdef ADD_TO_NONE
          || true
#endif
          ) ->
          touch();
          if
#ifndef ADD_LATE
          :: handles != count -> count = handles
#endif
          :: else -> handles = handles + ADDED; break
          fi
        }
     :: !tells -> break
     od
  :: !in_list
  fi;
  atomic { list_lock = false; count = 0 };
  if :: tells -> tells = false; send(END, 0) :: !tells fi;
  if :: any -> goto again :: !any fi;

  atomic { !list_lock -> list_lock = true };
  if
  :: in_list ->
     atomic { touch(); in_list = false; list_lock = false };
#ifdef ENDED_LATE
     drop_handle();
     atomic { touch(); ended = true }
#else
     atomic { touch(); ended = true };
     drop_handle()
#endif
  :: !in_list -> list_lock = false
  fi;
#ifdef NO_VISIT
  gone = true
#else
  atomic { visitors == 0 -> gone = true }
#endif
}
#endif

init {
  byte s;
  atomic {
    run fiber(true); run fiber(false);
    for (s : 0 .. SENDERS - 1) { run sender(s) }
#ifdef OUTSIDE
    run outsider(OUTSIDER);
#endif
#ifdef HERE
    run strand(STRAND);
#endif
#ifdef ENDS
    run ender(0);
#endif
    s = 0
  };
end:
  timeout;
  assert(!alive && !object);
  for (s : 0 .. ALL - 1) { assert(handled[s] == sent[s]) }
}

/* SPDX-License-Identifier: Apache-2.0
 * A sender makes a worker that runs a strand look for messages (backends/host/src/messages/message_service.cpp,
 * backends/host/src/fibers/fiber_switch.cpp, tasking/src/task_stack.cpp).
 *
 * SENDERS senders send MESSAGES messages each to one worker with three fibers, each with a task stack. A thief asks
 * the stacks for work ASKS times. The stores of the worker and of each sender wait in a store buffer, first in, first
 * out; locked instructions and full fences wait until it is empty. The worker never sleeps: idle.pml has that.
 *
 *   send:   publish the message; full fence; if not `listens`: full fence; set `called` by exchange if it is not set;
 *           ask the stack `active`
 *   ask:    if `asked` is not set and an exchange sets it: raise `limit`, so that the next fork takes the slow path,
 *           then `floor`, so that the next join does
 *   loop:   set `listens`; serve: take `called` back by exchange if it is set, look for messages. Continue a strand
 *           that is ready, or run a task on this stack; before that stop listening: take `listens` back, full fence,
 *           look; if there is a message: set `called`, ask the own stack
 *   leave:  store `active`; full fence; if `called`: ask the stack of the strand that runs next
 *   strand: forks and joins, for ever or until it ends, suspends, or continues another strand. The fast paths look at
 *           `limit` or `floor` alone
 *   fork:   if `limit` is raised: answer: take the lock, which is a locked instruction, take back `limit`, `floor` and
 *           last `asked`; full fence; look. If there is a message: yield to it by suspending, or if that is too early,
 *           ask the own stack. A spawn may not yield and raises `floor` instead. A fork that finds the array full
 *           does as the others
 *   join:   if `floor` is raised, the same. If a thief has the task, `floor` stays raised. So it does at the join of a
 *           fork under a spawned task
 *   child:  as a join, with a look before the answer, too, and then it yields before the task is taken back
 *   surplus: a strand may have another fiber run its tasks, which takes the place of the loop, and serves between two
 *           of these if `called` (-DSURPLUS)
 *   refresh: on arrival at a strand, `limit` may be set to what `asked` was, under the lock (-DREFRESH)
 *
 * Checked: when nothing can move any more but a strand that forks and joins for ever, all messages were taken, and each
 * stack with `asked` set has `limit` or `floor` raised, so it will answer.
 *
 * Faults, each of which the checker must find:
 *  -DASK_FIRST        a sender asks before it publishes the message
 *  -DASK_ONCE         a sender does not ask if `called` is set
 *  -DNO_CALL          a sender does not set `called`
 *  -DACTIVE_FIRST     a sender loads `active` before it sets `called`
 *  -DCALLED_LATE      `called` is taken back after the look (with -DSURPLUS)
 *  -DCALLED_STORED    `called` is taken back by a store without a fence (with -DSURPLUS)
 *  -DNO_LAST_LOOK     no look when the worker stops listening
 *  -DLAST_LOOK_FIRST  that look is before `listens` is taken back
 *  -DSTOP_UNCALLED    if it finds a message, `called` is not set
 *  -DNO_LEAVE_LOOK    `called` is not looked at when a stack is left
 *  -DLEAVE_LOOK_FIRST that look is before `active` is stored
 *  -DASKED_FIRST      an answer takes `asked` back first
 *  -DLOOK_FIRST       a fork looks before the answer
 *  -DSILENT           a strand that may not yet yield does not ask itself
 *
 * Weaker than the protocol above; each loses a request, and the checker must find that. The code has LIGHT_SEND, which
 * spares each message a fence, and nothing else of these:
 *  -DLIGHT_SEND       no fence between the message and the load of `listens`: the load passes the message
 *  -DLIGHT_STOP       no fence between `listens` and the last look: the store leaves the buffer after the look
 *  -DLIGHT_LEAVE      no fence between `active` and the look at `called`: the sender asks the stack that was left
 *  -DLIGHT_ANSWER     no fence between `asked` and the look: a thief has asked, and the sender finds `asked` still set
 *  -DCHILD_UNLOOKED   a child looks only before the answer
 *  -DFULL_UNLOOKED    a fork that finds the array full answers without a look
 *  -DMARK_LOST        a stolen task, and a join under a spawned task, take `floor` back, and with it a spawn's mark
 *
 * -DLIGHT stands for the first four. With -DLATER one more message at the end, or a thief that asks the stack `active`,
 * repairs these and -DCHILD_UNLOOKED; a thief cannot reach a strand that runs surplus tasks. With the last two the
 * strand may lose the later request in the same way.
 *  -DACCEPTED         sound with -DLIGHT_SEND and -DLIGHT_STOP: a request is lost only if its sender saw `listens`
 *  -DHEAVY            sound with -DLIGHT_LEAVE and -DLIGHT_ANSWER: a sender executes a heavy fence before it loads
 *                     `active`
 *  -DDEAF             checks `asked` alone: sound with -DMARK_LOST, and a fault with -DMARK_LOST and -DREFRESH, after
 *                     which nobody can ask the stack */
#ifndef SENDERS
#define SENDERS 1
#endif
#ifndef MESSAGES
#define MESSAGES 1
#endif
#ifndef ASKS
#define ASKS 1
#endif
#ifndef STEPS
#define STEPS 2
#endif
#ifdef LIGHT
#define LIGHT_SEND
#define LIGHT_STOP
#define LIGHT_LEAVE
#define LIGHT_ANSWER
#endif
#define FIBERS 3

mtype = { IDLE, RUNS, READY, HELD };                               /* fibers */
mtype = { W_ACTIVE, W_LISTENS, W_CALLED, W_LIMIT, W_FLOOR, W_ASKED };

/* In memory. */
byte box;                           /* messages that wait */
bool listens, called;
byte current;                       /* `active` */
bool asked[FIBERS], limit[FIBERS], raised[FIBERS];   /* `raised`: the floor is */

mtype fiber[FIBERS] = IDLE;         /* only the worker's */

/* Store buffers. Of the worker: what is written, the stack, the value. Of a sender: its messages; the last one is that
 * of the later sender. */
chan own = [6] of { mtype, byte, byte };
byte unseen[SENDERS + 1];

bool heard;                         /* ghost: a sender left a message to a worker that listened */

/* Store buffers drain at any time. */
active proctype buffers() {
  mtype op; byte k, v;
end:
  do
  :: atomic {
       own ? op, k, v ->
       if
       :: op == W_ACTIVE -> current = v
       :: op == W_LISTENS -> listens = v
       :: op == W_CALLED -> called = v
       :: op == W_LIMIT -> limit[k] = v
       :: op == W_FLOOR -> raised[k] = v
       :: op == W_ASKED -> asked[k] = v
       fi;
       op = 0; k = 0; v = 0
     }
#ifdef LIGHT_SEND
  :: atomic { unseen[0] > 0 -> unseen[0]--; box++ }
#if SENDERS > 1
  :: atomic { unseen[1] > 0 -> unseen[1]--; box++ }
#endif
#ifdef LATER
  :: atomic { unseen[SENDERS] > 0 -> unseen[SENDERS]--; box++ }
#endif
#endif
  od
}

/* --- The worker ----------------------------------------------------------------------------------------------- */

#define FENCE empty(own)            /* locked instructions, too */
/* Loads of the worker see what is in its buffer. A word that is raised there was taken back before. */
#define is_called    (own ?? [W_CALLED, 0, 1] || (called && !(own ?? [W_CALLED, 0, 0])))
#define is_asked(s)  (asked[s] && !(own ?? [W_ASKED, eval(s), 0]))
#define limit_up(s)  (own ?? [W_LIMIT, eval(s), 1] || (limit[s] && !(own ?? [W_LIMIT, eval(s), 0])))
#define floor_up(s)  (own ?? [W_FLOOR, eval(s), 1] || (raised[s] && !(own ?? [W_FLOOR, eval(s), 0])))
#define any(state)   (fiber[0] == state || fiber[1] == state || fiber[2] == state)

inline ask_own() {
  if
  :: is_asked(at)
  :: atomic { FENCE && !asked[at] -> asked[at] = true; own ! W_LIMIT, at, 1; own ! W_FLOOR, at, 1 }
  fi
}

inline take_call_back() {
#ifdef CALLED_STORED
  atomic { !(own ?? [W_CALLED, 0, 1]) -> own ! W_CALLED, 0, 0 }
#else
  atomic { FENCE -> called = false }
#endif
}
inline serve() {
#ifdef CALLED_LATE
  box = 0;
#endif
  if
  :: is_called -> take_call_back()
  :: !is_called
  fi;
#ifndef CALLED_LATE
  box = 0
#endif
}

inline begin_to_listen() {
  atomic { if :: !hears -> own ! W_LISTENS, 0, 1; hears = true :: hears fi }
}

/* The look at the messages; some faults have looked before. */
#define finds (!looked && box != 0 || had)
#define finds_none (!looked && box == 0 || looked && !had)
inline look() {
  atomic { looked = true; had = (box != 0) }
}
inline forget() {
  atomic { looked = false; had = false }
}

inline stop_listening() {
#ifdef LAST_LOOK_FIRST
  look();
#endif
  atomic { if :: hears -> own ! W_LISTENS, 0, 0; hears = false :: !hears fi };
#ifndef LIGHT_STOP
  FENCE;
#endif
#ifndef NO_LAST_LOOK
  if
  :: atomic {
       finds ->
#ifndef STOP_UNCALLED
       own ! W_CALLED, 0, 1
#endif
     };
     ask_own()
  :: finds_none
  fi;
#endif
#ifdef LAST_LOOK_FIRST
  forget()
#else
  skip
#endif
}

/* Switches to a fiber in state `next`, of the idle ones to the first. */
inline leave(next, then) {
#ifdef LEAVE_LOOK_FIRST
  had = is_called;
#endif
  atomic {
    if
    :: fiber[0] == next -> to = 0
    :: fiber[1] == next && (next != IDLE || fiber[0] != IDLE) -> to = 1
    :: fiber[2] == next && (next != IDLE || fiber[0] != IDLE && fiber[1] != IDLE) -> to = 2
    fi;
    own ! W_ACTIVE, 0, to;
    fiber[at] = then; at = to; fiber[at] = RUNS; to = 0; child = false
  };
#ifndef LIGHT_LEAVE
  FENCE;
#endif
#ifdef NO_LEAVE_LOOK
  skip;
#elif defined(LEAVE_LOOK_FIRST)
  if :: had -> had = false; ask_own() :: !had fi;
#else
  if :: is_called -> ask_own() :: !is_called fi;
#endif
#ifdef REFRESH
  if
  :: atomic { FENCE -> had = asked[at] };
     atomic { own ! W_LIMIT, at, had; had = false }
  :: true                                               /* no worker sleeps */
  fi;
#endif
  skip
}

inline answer() {
  atomic {
    FENCE ->
#ifdef ASKED_FIRST
    own ! W_ASKED, at, 0;
#endif
    own ! W_LIMIT, at, 0;
    own ! W_FLOOR, at, 0;
#ifndef ASKED_FIRST
    own ! W_ASKED, at, 0
#endif
  };
#ifndef LIGHT_ANSWER
  FENCE
#else
  skip
#endif
}

/* It is too early to yield. */
inline go_on() {
#ifndef SILENT
  ask_own()
#else
  skip
#endif
}

/* A task was stolen, or was taken back from under a spawned one: that moves the floor. */
inline move_floor() {
#ifdef MARK_LOST
  atomic { FENCE -> own ! W_FLOOR, at, 0 }
#else
  skip
#endif
}

active proctype worker() {
  byte at, to, steps = STEPS;
  bool hears, looked, had, child, stays;
  fiber[0] = RUNS;
  goto loop;

suspend:                            /* an idle fiber runs the loop */
  leave(IDLE, READY);

loop:
  begin_to_listen();
  serve();
end_search:
  if
  :: box != 0 -> goto loop
  :: any(READY) -> stop_listening(); leave(READY, IDLE)
  :: atomic { steps > 0 && any(IDLE) -> steps-- }; stop_listening()
  fi;

end_strand:
  do
  :: limit_up(at) ->                                    /* fork or spawn */
#ifdef LOOK_FIRST
     look();
#endif
     answer();
     if
     :: finds -> forget(); goto suspend
     :: finds -> forget(); go_on()
     :: atomic { finds -> looked = false; had = false; own ! W_FLOOR, at, 1; child = true }
     :: finds_none -> forget()
     :: atomic { finds_none -> looked = false; child = true }
     fi
#ifdef FULL_UNLOOKED
  :: limit_up(at) -> answer()
#endif
  :: floor_up(at) ->                                    /* join */
     answer();
     if
     :: box != 0 -> goto suspend
     :: box != 0 -> go_on()
     :: box == 0
     fi
  :: floor_up(at) -> move_floor(); child = false        /* the same, stolen */
  :: child && floor_up(at) ->                           /* join of the child */
     if
     :: box != 0 -> goto suspend
     :: box != 0 ->
        answer();
#ifndef CHILD_UNLOOKED
        if :: box != 0 -> go_on() :: box == 0 fi
#else
        go_on()
#endif
     :: box != 0 -> move_floor()                        /* stolen */
     :: box == 0 ->
        answer();
#ifndef CHILD_UNLOOKED
        if :: box != 0 -> go_on() :: box == 0 fi
#endif
     fi;
     child = false
#ifdef MARK_LOST
  :: child && floor_up(at) -> move_floor()              /* join under the child */
#endif
  :: steps > 0 -> steps--; goto loop                    /* ends */
  :: atomic { steps > 0 && any(IDLE) -> steps-- }; goto suspend
  :: atomic { steps > 0 && any(READY) -> steps-- }; leave(READY, IDLE)
#ifdef SURPLUS
  :: atomic { steps > 0 && any(IDLE) -> steps-- };
     leave(IDLE, HELD);
     begin_to_listen();
     stop_listening();
     serve();
end_surplus:
     do
     :: is_called -> serve()
     :: !stays -> atomic { stays = true; steps = 0 }
     :: !stays -> break
     od;
     leave(HELD, IDLE)
#endif
  :: steps > 0 -> steps = 0                             /* goes on for ever */
  od
}

/* --- The others ------------------------------------------------------------------------------------------------ */

inline ask(s) {
  if
  :: asked[s]
  :: atomic { !asked[s] -> asked[s] = true }; limit[s] = true; raised[s] = true
  fi
}

inline publish() {
#ifdef LIGHT_SEND
  unseen[me]++
#else
  box++
#endif
}

inline set_called() {
#ifndef NO_CALL
  if
#ifdef ASK_ONCE
  :: called -> goto sent
#else
  :: called
#endif
  :: atomic { !called -> called = true }
  fi;
#endif
  skip
}

proctype sender(byte me; byte left) {
  byte victim;
more:
#ifndef ASK_FIRST
  publish();
#endif
  if
  :: listens -> heard = true
  :: !listens ->
     unseen[me] == 0;                                   /* full fence */
#ifdef ACTIVE_FIRST
     victim = current;
     set_called();
#else
     set_called();
#ifdef HEAVY
     FENCE;
#endif
     victim = current;
#endif
     ask(victim)
  fi;
sent:
#ifdef ASK_FIRST
  publish();
#endif
  atomic { victim = 0; left-- };
  if :: left > 0 -> goto more :: left == 0 fi
}

proctype thief(byte left; bool any_stack) {
  byte victim;
  do
  :: atomic {
       left > 0 ->
       left--;
       if
       :: any_stack -> victim = 0
       :: any_stack -> victim = 1
       :: any_stack -> victim = 2
       :: !any_stack -> victim = current
       fi
     };
     ask(victim);
     victim = 0
  :: left == 0 -> break
  od
}

#define answers(s) (!asked[s] || limit[s] || raised[s])

init {
  atomic {
    run sender(0, MESSAGES);
#if SENDERS > 1
    run sender(1, MESSAGES);
#endif
    run thief(ASKS, true)
  };
end_first:
  timeout;
#ifdef LATER
  if
  :: box != 0 ->
     if
     :: true -> run sender(SENDERS, 1)
#ifndef SURPLUS
     :: true -> run thief(1, false)
#endif
     fi;
end_second:
     timeout
  :: box == 0
  fi;
#endif
#if defined(ACCEPTED)
  assert(box == 0 || heard);
#elif !defined(DEAF)
  assert(box == 0);
#endif
  assert(answers(0) && answers(1) && answers(2))
}

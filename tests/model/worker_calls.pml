/* SPDX-License-Identifier: Apache-2.0
 * Calls that workers run for the thread of an object space: the inbox of a worker (tasking/src/worker_objects.cpp), the
 * queue of calls that have ended, and the sleep of the thread (core/src/objects/completed_calls.cpp,
 * call_service_workers.cpp). The thread posts CALLS calls, all for one object, and waits until all have ended.
 *
 *   post:      the call goes into the inbox, under its lock; if no message of the inbox is under way, one is sent
 *   message:   the worker takes all calls of the inbox and sends them to itself, until the inbox is empty; then, under
 *              the same lock, the message ends
 *   call:      the worker runs it, adds it to the queue under a lock, and wakes the thread if that sleeps
 *   sleep:     the thread looks at the queue under the lock, and sleeps in the same step (a condition variable); it
 *              may also wake by its time limit, which the model leaves out: nothing may depend on it
 *   end:       when all calls are taken the thread forgets the queue and the inbox, which live as long as others use
 *              them
 *
 * Checked: calls run in the order in which they were posted; nobody waits for ever; nothing is used after it is freed.
 *
 * Faults, each of which the checker must find:
 *  -DLOOK_UNLOCKED   the thread looks at the queue, and sleeps in a step of its own
 *  -DEND_EARLY       the message ends when it takes the calls, before it has sent them on
 *  -DEND_UNLOCKED    the message sees that the inbox is empty, and ends in a later step
 *  -DQUEUE_OWNED     the queue is freed by the thread, although a worker may hold its lock
 *  -DINBOX_OWNED     the inbox is freed by the thread, although its message may be under way */
#ifndef CALLS
#define CALLS 3
#endif
#define MESSAGE 255

chan outside = [CALLS + 2] of { byte };   /* messages to the worker: of the inbox */
chan own = [CALLS + 2] of { byte };       /* messages of the worker to itself: calls */
chan inbox = [CALLS + 1] of { byte };
byte completed;
byte queue_users = 1, inbox_users = 1;    /* the thread, and those that keep them alive */
bool under_way, asleep, queue_locked, inbox_locked;
byte ran;

#define lock(which) atomic { !which -> which = true }
#define unlock(which) which = false
#define alive(users) assert(users > 0)

/* Without an end label: that it waits for ever is an error. */
proctype thread() {
  byte posted, ended;
  bool send;
  do
  :: posted < CALLS ->
       lock(inbox_locked);
       inbox!posted;
       send = !under_way;
       if
       :: send ->
            under_way = true;
#ifndef INBOX_OWNED
            inbox_users++
#endif
       :: else -> skip
       fi;
#ifndef QUEUE_OWNED
       queue_users++;                     /* each call keeps the queue */
#endif
       posted++;
       unlock(inbox_locked);
       if
       :: send -> outside!MESSAGE
       :: else -> skip
       fi
  :: completed > 0 ->
       lock(queue_locked);
       completed--;
       ended++;
       unlock(queue_locked)
  :: posted == CALLS && ended == CALLS -> break
  :: posted == CALLS && ended < CALLS && completed == 0 ->
#ifdef LOOK_UNLOCKED
       asleep = true;
#else
       atomic { !queue_locked -> asleep = (completed == 0) };
#endif
       !asleep
  od;
  atomic { queue_users--; inbox_users-- }
}

/* Two, as messages are tasks on some backends: each may be run by any thread. */
proctype messages() {
  byte call;
  chan taken = [CALLS + 1] of { byte };
end:
  do
  :: atomic { nempty(outside) -> outside?call; call = 0 };
       do
       :: alive(inbox_users);
          lock(inbox_locked);
          if
          :: empty(inbox) ->
#ifdef END_UNLOCKED
               unlock(inbox_locked);
               under_way = false;
#else
               under_way = false;
               unlock(inbox_locked);
#endif
               break
          :: else ->
               do
               :: nempty(inbox) -> inbox?call; taken!call; call = 0
               :: empty(inbox) -> break
               od;
#ifdef END_EARLY
               under_way = false;
#endif
               unlock(inbox_locked);
               do
               :: nempty(taken) -> taken?call; own!call; call = 0
               :: empty(taken) -> break
               od
#ifdef END_EARLY
               ; break
#endif
          fi
       od;
#ifndef INBOX_OWNED
       inbox_users--
#endif
  od
}

proctype calls() {
  byte call;
end:
  do
  :: atomic { nempty(own) -> own?call; assert(call == ran); ran++; call = 0 };
       lock(queue_locked);
       completed++;
       asleep = false;
       unlock(queue_locked);
       alive(queue_users);
#ifndef QUEUE_OWNED
       queue_users--
#endif
  od
}

init {
  atomic { run thread(); run messages(); run messages(); run calls() }
}

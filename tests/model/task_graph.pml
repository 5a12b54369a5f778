/* SPDX-License-Identifier: Apache-2.0
 * The task graph of linalg (linalg/src/graph: task_graph_engine.cpp, records, execution), its protocol in linalg/README.md.
 *
 * The enqueuer adds TASKS tasks. Each depends on any of the tasks whose records are still known. After any of them
 * the enqueuer may wait(), WAITS times, and at the end it does; with a full window it makes room for ROOM tasks.
 * WORKERS workers run it and the strands: a strand begins, and the enqueuer continues after a pause, when a worker is
 * free. Left open: which ready task is taken, and at how few unfinished tasks the promise is kept. There are as many
 * records as the window holds tasks, so that each is used again as soon as it may be.
 * One step is a section under the lock, with the spawning and notifying that follow it (the spawned or notified party
 * may be slow to begin), or one access to an atomic. Memory is sequentially consistent.
 * Checked: a task runs once, after all that it depends on; a record is recycled when its runner has finished and no
 * list holds its edges, and there is always one; a promise is kept once; no more strands than workers, and none
 * takes a task that the enqueuer's worker is needed for; with the lock free no more tasks are ready than strands look
 * for one, or there are as many strands as allowed; every process finishes.
 *
 *  -DFAILURES         bodies may fail: exactly the tasks that read what failed ones should have written are poisoned
 *  -DSUSPENSIONS      bodies may wait for something: their workers are free meanwhile
 *  -DNO_MEMORY        spawning may fail: the checks of the enqueuer's worker and of ready tasks do not hold then
 *  -DPOLICY           a power policy spawns fewer strands than there are ready tasks, and makes strands leave while
 *                     tasks are ready: the last check becomes that with ready tasks there is a strand
 * Faults for the checker, each of which it must find:
 *  -DEDGE_STORED      an edge is entered by a store instead of a compare-and-swap
 *  -DUNBIASED         `pending` counts from 0 while a task is linked
 *  -DNEXT_LATE        a runner reads the `next` of an edge after the count
 *  -DFAILED_UNSEEN    the enqueuer does not check whether a finished task has failed
 *  -DBACK_EARLY       a record is given back before its list is closed
 *  -DBACK_LATE        a record is given back after its task was counted as finished
 *  -DLEAVE_UNSEEN     a strand leaves without a second look
 *  -DHIRE_UNCOUNTED   strands are counted when they begin
 *  -DPARK_BLIND       the enqueuer parks without looking for ready tasks under the lock (needs -DROOM=2: else a task
 *                     that becomes ready leaves room by its predecessor's end)
 *  -DPARK_UNCOUNTED   the enqueuer parks without looking at the count under the lock
 *  -DROOM_BEFORE      a runner looks for a promise before it takes the lock
 *  -DROOM_AFTER       a runner looks for a promise after it has released the lock
 *  -DSTILL_PARKED     the enqueuer is `parked` until it continues
 *  -DJOIN_UNHIRED     wait() raises the number of strands and spawns none
 *  -DHIRE_NOBODY      with -DPOLICY: the policy may spawn no strand although none exists
 *  -DLAST_LEAVES      with -DPOLICY: ... and make the last strand leave */
#ifndef WORKERS
#define WORKERS 2              /* 1 to 3 */
#endif
#ifndef TASKS
#define TASKS 4
#endif
#ifndef WINDOW
#define WINDOW 3               /* 1 to 4 */
#endif
#ifndef ROOM
#define ROOM 1
#endif
#ifndef WAITS
#define WAITS 0
#endif

#include "task_graph_steps.pml"

proctype strand(byte place) {
  RUNNER;
begin:
end:
  atomic {
    spawned > 0 && free_workers > 0 && !taken[place] && (place == 0 || taken[0]) && (place < 2 || taken[1]) ->
    spawned--; free_workers--; taken[place] = true;
#ifdef HIRE_UNCOUNTED
    strands++
#endif
  };
  do
#ifdef LEAVE_UNSEEN
  :: HIRED && r == NONE && ready == 0 -> atomic { leave(); goto begin }
#endif
  :: atomic { HIRED && r == NONE -> take_by_strand(); if :: r == NONE -> leave(); goto begin :: else fi; CHECK }
  :: HIRED && r != NONE ->
     run_and_close();
     SEE_ROOM
     atomic { busy--; count_end(); take_by_strand(); hire() };
#ifdef ROOM_AFTER
     if
     :: room && UNFINISHED <= wake_at -> atomic { keep_promise() }
     :: else
     fi
#endif
  SPAWN
  od
}

proctype enqueuer() {
  RUNNER;
  byte goal, edges, total, waits = WAITS;
  bool joining, helped;

next_task:
  if
  :: atomic { total == TASKS || (waits > 0 && added > 0) ->
              if :: total < TASKS -> waits-- :: else fi; joining = true; goal = 0; goto help }
  :: atomic { total < TASKS && UNFINISHED < WINDOW -> goto add }
  :: atomic { total < TASKS && UNFINISHED == WINDOW -> goal = WINDOW - ROOM }
  fi;

make_room:
  if
  :: UNFINISHED <= goal -> goto add
  :: else
  fi;
help:
  atomic {
    if
    :: ready != 0 -> pick(); CHECK; helped = true
    :: else -> helped = false
    fi
  };
  do
  :: HIRED && r != NONE ->
     run_and_close();
     SEE_ROOM
     atomic {
       count_end();
       if
       :: UNFINISHED > goal && ready != 0 -> pick()
       :: else
       fi;
       hire()
     }
  :: atomic {
       HIRED && r == NONE ->
       if
       :: joining -> goto join
       :: !joining && helped -> goto make_room
       :: else -> break
       fi
     }
  SPAWN
  od;

#ifdef PARK_UNCOUNTED
  if :: UNFINISHED <= goal -> goto make_room :: else fi;
#endif
  atomic {                                 /* wait_for_room() */
    if
#ifndef PARK_BLIND
    :: ready != 0 -> goto make_room
#endif
#ifndef PARK_UNCOUNTED
    :: UNFINISHED <= goal -> goto make_room
#endif
    :: else
    fi;
    room = true; parked = true; away = true; free_workers++;
    select(wake_at : 0 .. goal);
    CHECK
  };
  atomic {
    told && free_workers > 0 ->
    told = false; free_workers--;
    assert(!room);
#ifdef STILL_PARKED
    parked = false;
#endif
    goto make_room
  };

add:
  atomic { start_record(); added++ };      /* no other sees the record yet */
  do
  :: atomic { edge == NONE && other < WINDOW -> find_edge() }
  :: atomic { edge != NONE -> enter_edge() }
  :: atomic { edge == NONE && other == WINDOW -> other = 0; break }
  od;
  atomic {
#ifndef UNBIASED
    pending[r] = pending[r] + edges - LINKING;
#endif
    edges = 0;
    if
    :: pending[r] == 0
    :: else -> r = NONE; goto next_task
    fi
  };
  atomic { ready = ready | BIT(r); r = NONE; hire() };       /* publish() */
  spawn_all();
  goto next_task;

join:
  atomic {
    parked = true; away = true;
#ifdef JOIN_UNHIRED
    CHECK
#else
    hire()
#endif
  };
  spawn_all();
  free_workers++;
  atomic {
    running == 0 && free_workers > 0 ->
    free_workers--; away = false;
#ifdef NO_MEMORY
    if :: UNFINISHED != 0 -> goto help :: else fi;
#endif
    assert(UNFINISHED == 0 && strands == 0 && ready == 0 && done == BIT(total) - 1);
    recycle_ended();
    parked = false; added = 0; finished = 0
  };
  if
  :: total < TASKS -> goto next_task
  :: else
  fi
}

init {
  atomic {
    run enqueuer();
    run strand(0);
#if WORKERS > 1
    run strand(1);
#endif
#if WORKERS > 2
    run strand(2)
#endif
  }
}

/* SPDX-License-Identifier: Apache-2.0
 * Turns of tasks that change blocks commutatively (linalg/src/graph: records/block_turns.hpp, execution), their
 * protocol in linalg/README.md.
 *
 * TASKS tasks are ready from the start; each changes one or more of BLOCKS blocks, any of them. WORKERS runners take
 * them. A runner that takes a task whose blocks are not all free puts it aside, at one of those that it misses. A
 * runner that ends a task gives its blocks back and offers each to the tasks put aside there; a task that takes all of
 * its blocks is ready. Left open: which ready task is taken, and at which missing block a task is put aside.
 * One step is a section under the lock of the graph; bodies run between sections. That runners are there for the ready
 * tasks is checked by task_graph.pml.
 * Checked: no two tasks change a block at once, each task runs once, and all run: none stays put aside.
 *
 * Faults for the checker, each of which it must find:
 *  -DUNGUARDED        a runner looks at the blocks before the section in which it takes them
 *  -DONE_BY_ONE       a task takes the blocks that are free, and keeps them while it is put aside
 *  -DAT_ANY           a task is put aside at any of its blocks, perhaps a free one
 *  -DUNOFFERED        a runner gives blocks back and offers them to no task
 *  -DNOT_GIVEN_BACK   a task that fails keeps its blocks */
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef TASKS
#define TASKS 4                /* up to 5 */
#endif
#ifndef BLOCKS
#define BLOCKS 2               /* 2 or 3 */
#endif

#define NONE 255
#define BIT(x) (1 << (x))
#define ALL (BIT(TASKS) - 1)

byte wants[TASKS];             /* sets of blocks */
byte has[TASKS];
byte taken;                    /* set of blocks */
byte ready = ALL;              /* set of tasks */
byte ran, done;                /* ghosts */
byte changing;                 /* ghost: set of blocks */
chan aside[BLOCKS] = [TASKS] of { byte };

inline put_aside(one, missed) {
  if
  :: (missed) & 1 -> aside[0]!one
  :: (missed) & 2 -> aside[1]!one
#if BLOCKS > 2
  :: (missed) & 4 -> aside[2]!one
#endif
  fi
}

/* `one` becomes NONE if it is put aside. */
inline take_turns(one) {
  other = wants[one] & ~has[one];
  if
  :: other & seen ->
#ifdef ONE_BY_ONE
     has[one] = has[one] | (other & ~seen); taken = taken | has[one];
#endif
#ifdef AT_ANY
     put_aside(one, wants[one]);
#else
     put_aside(one, other & seen);
#endif
     one = NONE
  :: else -> has[one] = wants[one]; taken = taken | wants[one]
  fi;
  other = 0
}

inline offer(block) {
  do
  :: !(taken & BIT(block)) && len(aside[block]) > 0 ->
     aside[block]?waiting;
     seen = taken;
     take_turns(waiting);
     if
     :: waiting != NONE -> ready = ready | BIT(waiting)
     :: else
     fi
  :: else -> break
  od
}

proctype runner() {
  byte task = NONE, waiting, other, seen;
end:
  do
  :: atomic {
       task == NONE && ready != 0 ->
       if
       :: ready & 1 -> task = 0
       :: ready & 2 -> task = 1
       :: ready & 4 -> task = 2
       :: ready & 8 -> task = 3
       :: ready & 16 -> task = 4
       fi;
       ready = ready & ~BIT(task);
       seen = taken
#ifdef UNGUARDED
     };
     atomic {
#else
       ;
#endif
       take_turns(task); seen = 0;
       if
       :: task != NONE ->
          assert(!(ran & BIT(task)) && !(changing & wants[task]));
          ran = ran | BIT(task); changing = changing | wants[task]
       :: else
       fi
     }
  :: atomic {
       task != NONE ->
       done = done | BIT(task); changing = changing & ~wants[task];
#ifdef NOT_GIVEN_BACK
       if
       :: task = NONE; goto end
       :: true
       fi;
#endif
       has[task] = 0; taken = taken & ~wants[task];
#ifndef UNOFFERED
       if :: wants[task] & 1 -> offer(0) :: else fi;
       if :: wants[task] & 2 -> offer(1) :: else fi;
#if BLOCKS > 2
       if :: wants[task] & 4 -> offer(2) :: else fi;
#endif
#endif
       waiting = 0; seen = 0; task = NONE
     }
  od
}

init {
  byte t, set;
  atomic {
    for (t : 0 .. TASKS - 1) { select(set : 1 .. BIT(BLOCKS) - 1); wants[t] = set };
    for (t : 1 .. WORKERS) { run runner() }
  };
  timeout;
  assert(done == ALL && taken == 0)
}

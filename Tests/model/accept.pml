/* How a build is accepted: processes that open, prune and clean up one state directory, an administrator who applies a
 * revocation list and a withdrawal, processes that are killed, commits that fail, and a loss of power.
 *
 * README.md says which step stands for which function, what is taken for granted, and what is left out. Each claim is a
 * `hidden byte` that never changes; its name is what a failing assertion prints. Each broken variant is a #define that
 * model.py sets, and names the claim that has to fall.
 *
 * Each process has a counter of its own in `at`, and each step is one indivisible option of its loop. So a process can be
 * killed between any two of its steps: it is sent back to START, and what it held is let go.
 */

/* ---- the instance: model.py sets these ---- */
#ifndef OPENERS
#define OPENERS 3    /* processes that open a package, at most 3 */
#endif
#ifndef OPENS
#define OPENS 1      /* how many each opens, one after the other */
#endif
#ifndef PRUNES
#define PRUNES 1     /* how often a process prunes, or removes every tree of the app */
#endif
#ifndef CRASHES
#define CRASHES 1    /* processes that are killed */
#endif
#ifndef POWERLOSSES
#define POWERLOSSES 1
#endif
#ifndef FAILURES
#define FAILURES 1   /* commits that the system refuses, such as on a full disk */
#endif
#ifndef DAMAGES
#define DAMAGES 0    /* installed trees of which a file is lost */
#endif
#ifndef LISTS
#define LISTS 1      /* whether a revocation list and a withdrawal are applied at some time */
#endif
#ifndef FAULTS
#define FAULTS 3     /* of these four kinds together */
#endif
#ifndef SLOTS
#define SLOTS 7      /* directories that can be there at once; `slots_suffice` falls when they are too few */
#endif
/* SCENE: which build each process opens, a decimal digit for each; without it, every choice is explored. */

#define BUILDS 3
#define NAMED 2      /* the build that the revocation list names */
#define PRUNER OPENERS
#define NONE SLOTS   /* no slot */
#define NOBODY 0
#define ME (me + 1)  /* as the holder of a lock */
#define BIT(n) (1 << (n))
#define IN(set, n) (((set) & BIT(n)) != 0)

/* ---- what is claimed ---- */
hidden byte highest_build_never_falls = 1;
hidden byte nothing_accepted_below_a_higher_build = 1;
hidden byte nothing_accepted_after_its_revocation = 1;
hidden byte nothing_accepted_after_the_withdrawal = 1;
hidden byte accepted_is_recorded = 1;
hidden byte opened_tree_is_there_and_whole = 1;
hidden byte recorded_tree_is_there_and_whole = 1;
hidden byte recorded_tree_survives_power_loss = 1;
hidden byte no_half_tree_is_visible = 1;
hidden byte no_tree_in_use_is_removed = 1;
hidden byte pruning_leaves_what_is_used = 1;
hidden byte staging_in_use_is_not_cleaned = 1;
hidden byte nothing_is_left_over = 1;
hidden byte slots_suffice = 1;   /* of the model itself */
#define CLAIM(name, holds) assert((holds) || !name)

/* ---- the disk: a slot is a directory with a tree in it ---- */
#define GONE 0
#define STAGING 1
#define APPS 2
#define ASIDE 3
byte where[SLOTS];    /* its name, as processes see it */
byte kept[SLOTS];     /* its name as the disk has it, should the power go */
byte build[SLOTS];
bit whole[SLOTS];     /* every file of the tree is there */
bit synced[SLOTS];    /* and on the disk */
byte worker[SLOTS];   /* exclusive flock on the directory */
byte remover[SLOTS];  /* exclusive flock on its SHA256SUMS */
byte users[SLOTS];    /* shared flocks on its SHA256SUMS: the leases, a bit for each process */
byte fd[SLOTS];       /* open descriptors, a bit for each process; they keep a directory from being another one */
byte filling[SLOTS];  /* who was given the entry by makeTree and works in it; for a claim only */
#define IS_FREE(x) (where[x] == GONE && kept[x] == GONE && fd[x] == 0)

/* ---- the database, as committed; what a transaction has written so far, its process keeps in its own variables ---- */
byte transaction;     /* who is in an immediate transaction */
byte floor;           /* the highest accepted build */
byte rows;            /* installed packages, a bit for each build */
bit revoked;          /* the list that names build NAMED is in force */
bit withdrawn;        /* the root is withdrawn */
#define REFUSED(b) ((b) < floor || withdrawn || (revoked && (b) == NAMED))

/* ---- for the claims only ---- */
byte highest;         /* the highest build that an open was told is accepted */
byte excused;         /* recorded trees that a removal has moved away, or that were damaged: they are extracted again */

/* ---- the processes ---- */
mtype = { START, PROBED, CLEAN, CLEANING, JUDGE, REACHED, LOCKED, LEASED, RECORDED, AGAIN, MAKE, MADE, FILL, FILLED, INSIDE, RENAME,
    RENAMED, COMMIT, COMMITTED, REACH_LATE, LEASE_LATE, IN_USE, TAKE_BACK, DISCARD, DISCARDING, CANDIDATES, MOVE, MOVED,
    STRANGERS, MOVE_ASIDE, PRUNED, UNDO, PUT_BACK, PUTTING_BACK, REMOVE, REMOVING, DONE };
mtype at[4];
byte target[4];       /* the build that it opens; of the pruner: the next candidate */
byte staged[4];       /* its tree in staging */
byte leased[4];       /* the tree that it has, or wants, a lease on */
byte damaged[4];      /* a damaged tree that it has moved out of the way */
byte entry[4];        /* the slot that it is looking at */
byte opens[4];        /* how often it still has to do its work */
bit removesAll;       /* the pruner's: `store remove` instead of `store prune` */
byte forgotten;       /* the pruner's: rows that its transaction has deleted */
byte moved;           /* the pruner's: slots that it has moved to staging */
byte crashes = CRASHES;
byte powerLosses = POWERLOSSES;
byte failures = FAILURES;
byte damages = DAMAGES;
byte faults = FAULTS;
bit over;
hidden byte i;        /* counters that count within a step only */
hidden byte j;
hidden byte k;
#define DOES(step) at[me] == step
/* A lease is one from the second look on; until then it is a lock that is given back. */
#define USES(p, x) (leased[p] == (x) && (at[p] == LEASED || at[p] == RECORDED || at[p] == AGAIN || at[p] == COMMIT || at[p] == COMMITTED || at[p] == IN_USE))
#define IS_USED(x) (USES(0, x) || USES(1, x) || USES(2, x))
#define FAILING (faults > 0 && failures > 0)
#define EVERYBODY_IS_DONE (opens[0] == 0 && opens[1] == 0 && opens[2] == 0 && opens[3] == 0)

/* ---- parts of steps ---- */

/* A slot that nobody knows any more is like any other such slot. */
inline blank(x) {
    if
    :: IS_FREE(x) -> build[x] = 0; whole[x] = 0; synced[x] = 0
    :: else
    fi
}

/* What the disk has becomes what is seen. What was set aside is forgotten: nobody deletes it, nobody looks at it. */
inline settle(x) {
    if
    :: where[x] == ASIDE -> where[x] = GONE
    :: else
    fi;
    kept[x] = where[x];
    synced[x] = whole[x];
    blank(x)
}

inline syncFileSystem() {
    i = 0;
    do
    :: i < SLOTS -> settle(i); i++
    :: else -> break
    od;
    i = 0
}

/* A path leads to one directory: where an old tree has its name back, a newer one has not got it. */
inline oneTreeAtAPath() {
    i = 0;
    do
    :: i < SLOTS && where[i] == APPS && kept[i] != APPS ->
        j = 0;
        do
        :: j < SLOTS && !(j != i && where[j] == APPS && build[j] == build[i]) -> j++
        :: else -> break
        od;
        if
        :: j < SLOTS -> where[i] = kept[i]
        :: else
        fi;
        i++
    :: i < SLOTS && !(where[i] == APPS && kept[i] != APPS) -> i++
    :: else -> break
    od;
    i = 0;
    j = 0
}

/* When no power will be lost any more, what the disk has does not matter: equal states become one. */
inline settleAll() {
    if
    :: powerLosses == 0 || faults == 0 -> syncFileSystem()
    :: else
    fi
}

/* fsync of the directories in `apps`: names that came and names that went. */
inline syncApps() {
    i = 0;
    do
    :: i < SLOTS ->
        if
        :: where[i] == APPS || kept[i] == APPS -> kept[i] = where[i]
        :: else
        fi;
        i++
    :: else -> break
    od;
    i = 0;
    settleAll()
}

/* The slot that a path in `apps` leads to, or NONE. */
inline lookUp(b, result) {
    k = 0;
    do
    :: k < SLOTS && !(where[k] == APPS && build[k] == b) -> k++
    :: else -> break
    od;
    result = k;
    k = 0
}

/* Opens a tree by its path: its directory and its SHA256SUMS. */
inline reach(b) {
    lookUp(b, leased[me]);
    if
    :: leased[me] < SLOTS -> fd[leased[me]] = fd[leased[me]] | BIT(me)
    :: else
    fi
}

/* Closes a process's descriptors on a slot, and with them its locks. */
inline close(x, p) {
    if
    :: x < SLOTS ->
        if :: worker[x] == (p) + 1 -> worker[x] = NOBODY :: else fi;
        if :: remover[x] == (p) + 1 -> remover[x] = NOBODY :: else fi;
        if :: filling[x] == (p) + 1 -> filling[x] = NOBODY :: else fi;
        users[x] = users[x] & ~BIT(p);
        fd[x] = fd[x] & ~BIT(p);
        blank(x)
    :: else
    fi
}

/* A process lets go of everything, by its end or by being killed, and knows nothing any more. */
inline leave(p) {
    j = 0;
    do
    :: j < SLOTS -> close(j, p); j++
    :: else -> break
    od;
    j = 0;
    staged[p] = NONE; leased[p] = NONE; damaged[p] = NONE; entry[p] = NONE;
    if
    :: p == PRUNER -> target[p] = 1; removesAll = 0; forgotten = 0; moved = 0
    :: else
    fi;
    if
    :: transaction == (p) + 1 -> transaction = NOBODY
    :: else
    fi
}

/* The files of a tree go, one after the other; until the last is gone there is a part of a tree. */
inline removeFiles(x) {
    CLAIM(no_tree_in_use_is_removed, !IS_USED(x));
    whole[x] = 0;
    synced[x] = 0
}

inline removeName(x) {
    where[x] = GONE;
    settleAll()
}

/* Every recorded tree that no removal has begun with is at its path, and whole. */
inline recordedTrees(claim) {
    j = 1;
    do
    :: j <= BUILDS ->
        if
        :: IN(rows, j) && !IN(excused, j) -> lookUp(j, i); CLAIM(claim, i < SLOTS && whole[i])
        :: else
        fi;
        j++
    :: else -> break
    od;
    i = 0;
    j = 0
}

/* No recorded path leads to a part of a tree; one that was damaged is found when it is opened. */
inline halfTrees() {
    i = 0;
    do
    :: i < SLOTS ->
        CLAIM(no_half_tree_is_visible, !(where[i] == APPS && IN(rows, build[i]) && !whole[i] && damages == DAMAGES));
        i++
    :: else -> break
    od;
    i = 0
}

/* The moment in which the answer of an open is decided: its commit, or the read of one that has nothing to record. */
inline accept(b) {
    CLAIM(nothing_accepted_below_a_higher_build, b >= highest);
    CLAIM(nothing_accepted_after_its_revocation, !(revoked && b == NAMED));
    CLAIM(nothing_accepted_after_the_withdrawal, !withdrawn);
    if
    :: b > highest -> highest = b
    :: else
    fi
}

/* recordBuild: the statement itself never lowers the floor, whatever was decided before it. */
inline record(b) {
#ifdef FLOOR_ONLY_IN_THE_DECISION
    CLAIM(highest_build_never_falls, b >= floor);
    floor = b;
#else
    if
    :: b > floor -> floor = b
    :: else
    fi;
#endif
    rows = rows | BIT(b);
    excused = excused & ~BIT(b)
}

inline commitOpen(b) {
    accept(b);
    record(b);
    transaction = NOBODY
}

/* The system refuses a commit, and SQLite undoes it. */
inline fail() {
    faults--;
    failures--;
    transaction = NOBODY;
    settleAll()
}

inline finish() {
    leave(me);
    opens[me]--;
    if
    :: opens[me] > 0 -> at[me] = START
    :: else -> at[me] = DONE
    fi
}

/* ---- the broken variants ---- */

#ifdef CHECK_OUTSIDE_THE_TRANSACTION
#define REFUSED_INSIDE(b) false
#else
#ifdef ROOT_NOT_JUDGED_AGAIN
#define REFUSED_INSIDE(b) ((b) < floor || (revoked && (b) == NAMED))
#else
#define REFUSED_INSIDE(b) REFUSED(b)
#endif
#endif

#ifdef NO_CLEAN_UP
#define IS_ABANDONED(x) false
#else
#ifdef CLEAN_WITHOUT_LOCK
#define IS_ABANDONED(x) (where[x] == STAGING)
#else
#define IS_ABANDONED(x) (where[x] == STAGING && worker[x] == NOBODY)
#endif
#endif

#ifdef MAKE_WITHOUT_SECOND_LOOK
#define IS_MADE(x) true
#else
#define IS_MADE(x) (where[x] == STAGING)
#endif

#ifdef LEASE_WITHOUT_SECOND_LOOK
#define PATH_LEADS_TO(x, b) true
#else
#define PATH_LEADS_TO(x, b) (where[x] == APPS && build[x] == b)
#endif

#ifdef LEASE_WITHOUT_READING_THE_ROW
#define IS_RECORDED(b) true
#else
#define IS_RECORDED(b) IN(rows, b)
#endif

#ifdef LEASE_WITHOUT_THIRD_LOOK
#define STILL_LEADS_TO(x, b) true
#else
#define STILL_LEADS_TO(x, b) (where[x] == APPS && build[x] == b)
#endif

#define IS_UNUSED(x) (users[x] == 0 && remover[x] == NOBODY)

#ifdef TAKE_BACK_WITHOUT_LEASE
#define FREE_TO_TAKE_BACK(x) true
#else
#define FREE_TO_TAKE_BACK(x) IS_UNUSED(x)
#endif

#ifdef PRUNE_WITHOUT_LEASE
#define FREE_TO_PRUNE(x) (remover[x] == NOBODY)
#else
#define FREE_TO_PRUNE(x) IS_UNUSED(x)
#endif

#ifdef PUT_BACK_OUTSIDE_A_TRANSACTION
#define MAY_PUT_BACK true
#else
#define MAY_PUT_BACK (transaction == NOBODY)
#endif

#ifdef COMMIT_BEFORE_RENAME
#define BEFORE_RENAME commitOpen(target[me]); at[me] = RENAME
#else
#define BEFORE_RENAME at[me] = RENAME
#endif

/* ---- who starts cleans up: StagingArea.cleanUp ---- */

inline nextAbandoned() {
    do
    :: entry[me] < SLOTS && !IS_ABANDONED(entry[me]) -> entry[me]++
    :: else -> break
    od;
    if
    :: entry[me] < SLOTS ->
        CLAIM(staging_in_use_is_not_cleaned, filling[entry[me]] == NOBODY);
        worker[entry[me]] = ME;
        fd[entry[me]] = fd[entry[me]] | BIT(me);
        at[me] = CLEANING
    :: else -> transaction = NOBODY; at[me] = JUDGE
    fi
}

/* The options of a loop that opener and pruner share. */
#define CLEANS_UP \
    :: d_step { DOES(START) -> /* isAbandoned takes an entry's lock to see whether it is free */ \
        entry[me] = 0; \
        do \
        :: entry[me] < SLOTS && !(where[entry[me]] == STAGING && worker[entry[me]] == NOBODY) -> entry[me]++ \
        :: else -> break \
        od; \
        if \
        :: entry[me] < SLOTS -> worker[entry[me]] = ME; fd[entry[me]] = fd[entry[me]] | BIT(me); at[me] = PROBED \
        :: else -> at[me] = JUDGE \
        fi } \
    :: d_step { DOES(PROBED) -> close(entry[me], me); entry[me] = NONE; at[me] = CLEAN } \
    :: d_step { DOES(CLEAN) && transaction == NOBODY -> \
        transaction = ME; entry[me] = 0; SYNC_BEFORE_CLEANING; nextAbandoned() } \
    :: d_step { DOES(CLEANING) && whole[entry[me]] -> removeFiles(entry[me]) } \
    :: d_step { DOES(CLEANING) && !whole[entry[me]] -> \
        removeName(entry[me]); close(entry[me], me); nextAbandoned() }

#ifdef CLEAN_WITHOUT_SYNC
#define SYNC_BEFORE_CLEANING skip
#else
#define SYNC_BEFORE_CLEANING syncFileSystem()
#endif

/* ---- a process that opens a package: TrustCore.open ---- */

proctype Opener(byte me) {
end: do
    CLEANS_UP

    /* readFront, and judge: rules 2 to 12 on a snapshot. */
    :: d_step { DOES(JUDGE) ->
        entry[me] = NONE;
        if
        :: REFUSED(target[me]) -> finish()
        :: !REFUSED(target[me]) && !IN(rows, target[me]) -> at[me] = MAKE
        :: else -> at[me] = REACHED; reach(target[me])
        fi }

    /* leaseOnWholeTree: TreeLease.take, whether the tree is whole, and whether it is recorded still. */
    :: d_step { DOES(REACHED) && leased[me] == NONE -> at[me] = MAKE }
    :: d_step { DOES(REACHED) && leased[me] < SLOTS && remover[leased[me]] != NOBODY -> /* being removed: asks again */
        close(leased[me], me); reach(target[me]) }
    :: d_step { DOES(REACHED) && leased[me] < SLOTS && remover[leased[me]] == NOBODY ->
        users[leased[me]] = users[leased[me]] | BIT(me); at[me] = LOCKED }
    :: d_step { DOES(LOCKED) && !PATH_LEADS_TO(leased[me], target[me]) ->
        close(leased[me], me); reach(target[me]); at[me] = REACHED }
    :: d_step { DOES(LOCKED) && PATH_LEADS_TO(leased[me], target[me]) -> at[me] = LEASED }
    /* A tree that is renamed and not yet recorded can be leased, too; so the row is read, and the path looked at again. */
    :: d_step { DOES(LEASED) ->
        if
        :: IS_RECORDED(target[me]) -> at[me] = RECORDED
        :: else -> close(leased[me], me); leased[me] = NONE; at[me] = MAKE
        fi }
    :: d_step { DOES(RECORDED) ->
        if
        :: STILL_LEADS_TO(leased[me], target[me]) && whole[leased[me]] -> at[me] = AGAIN
        :: else -> close(leased[me], me); leased[me] = NONE; at[me] = MAKE
        fi }
    /* acceptAgain, where there is nothing to record. */
    :: d_step { DOES(AGAIN) ->
        if
        :: REFUSED(target[me]) -> finish()
        :: else ->
            accept(target[me]);
            CLAIM(accepted_is_recorded, IN(rows, target[me]));
            at[me] = IN_USE
        fi }

    /* StagingArea.makeTree: a directory, its lock, and a second look. */
    :: d_step { DOES(MAKE) ->
        /* A slot of one's own where it is free: who came first must not make two states of one. */
        staged[me] = me;
        if
        :: IS_FREE(staged[me])
        :: else ->
            staged[me] = OPENERS;
            do
            :: staged[me] < SLOTS && !IS_FREE(staged[me]) -> staged[me]++
            :: else -> break
            od
        fi;
        CLAIM(slots_suffice, staged[me] < SLOTS);
        where[staged[me]] = STAGING;
        build[staged[me]] = target[me];
        fd[staged[me]] = BIT(me);
        settleAll();
        at[me] = MADE }
    :: d_step { DOES(MADE) ->
        if
        :: worker[staged[me]] == NOBODY -> worker[staged[me]] = ME; at[me] = FILL
        :: else -> close(staged[me], me); staged[me] = NONE; at[me] = MAKE
        fi }
    /* PayloadVerifier, until whose return the tree is not whole; then StagedTree.sync. */
    :: d_step { DOES(FILL) ->
        if
        :: !IS_MADE(staged[me]) -> close(staged[me], me); staged[me] = NONE; at[me] = MAKE
        :: else ->
            filling[staged[me]] = ME;
            whole[staged[me]] = 1;
#ifndef NO_SYNC
            syncFileSystem();
#endif
            at[me] = FILLED
        fi }

    /* Trees.install: one immediate transaction, in which everything is judged again. */
    :: d_step { DOES(FILLED) && transaction == NOBODY ->
        if
        :: REFUSED_INSIDE(target[me]) -> at[me] = DISCARD
        :: else -> transaction = ME; lookUp(target[me], entry[me]); at[me] = INSIDE
        fi }
    :: d_step { DOES(INSIDE) ->
        if
        :: IN(rows, target[me]) && entry[me] < SLOTS && whole[entry[me]] ->
            /* The row is there and its tree is whole: that one stays. It is leased in the transaction, where no other
             * process changes what the path leads to. Who has locked it to remove it gives it back at once. */
            if
            :: remover[entry[me]] == NOBODY ->
                leased[me] = entry[me];
                fd[leased[me]] = fd[leased[me]] | BIT(me);
                users[leased[me]] = users[leased[me]] | BIT(me);
                entry[me] = NONE;
                at[me] = COMMIT
            :: else
            fi
        :: IN(rows, target[me]) && entry[me] < SLOTS && !whole[entry[me]] ->
            /* moveOut, where nobody uses the damaged tree. */
            if
            :: IS_UNUSED(entry[me]) ->
                remover[entry[me]] = ME; worker[entry[me]] = ME; fd[entry[me]] = fd[entry[me]] | BIT(me);
                where[entry[me]] = STAGING;
                damaged[me] = entry[me];
                excused = excused | BIT(target[me]);
                settleAll()
            :: else
            fi;
            entry[me] = NONE;
            BEFORE_RENAME
        :: else -> entry[me] = NONE; BEFORE_RENAME
        fi }
    /* Trees.rename: another tree of that name is set aside, in use or not. */
    :: d_step { DOES(RENAME) ->
        lookUp(target[me], entry[me]);
        if
        :: entry[me] < SLOTS -> where[entry[me]] = ASIDE
        :: else ->
            CLAIM(staging_in_use_is_not_cleaned, where[staged[me]] == STAGING);
            CLAIM(no_half_tree_is_visible, whole[staged[me]]);
            where[staged[me]] = APPS;
            filling[staged[me]] = NOBODY;
            at[me] = RENAMED
        fi;
        entry[me] = NONE;
        settleAll() }
    :: d_step { DOES(RENAMED) ->
#ifndef NO_DIRECTORY_SYNC
        syncApps();
#endif
        at[me] = COMMIT }
    :: d_step { DOES(COMMIT) ->
        if
        :: leased[me] == NONE -> /* renamed: the lease is taken before the commit */
#ifndef LEASE_AFTER_COMMIT
            leased[me] = staged[me];
            users[leased[me]] = users[leased[me]] | BIT(me);
#endif
            worker[staged[me]] = NOBODY
        :: else
        fi;
#ifndef COMMIT_BEFORE_RENAME
        commitOpen(target[me]);
#endif
        at[me] = COMMITTED }
    :: d_step { DOES(COMMIT) && FAILING && transaction == ME ->
        fail();
        if
        :: leased[me] == NONE -> at[me] = TAKE_BACK
        :: else -> close(leased[me], me); leased[me] = NONE; at[me] = DISCARD
        fi }
    /* What is not needed any more goes; then the app runs, until IN_USE is left. */
    :: d_step { DOES(COMMITTED) && damaged[me] < SLOTS ->
        if
        :: whole[damaged[me]] -> removeFiles(damaged[me])
        :: else -> removeName(damaged[me]); close(damaged[me], me); damaged[me] = NONE
        fi }
    :: d_step { DOES(COMMITTED) && damaged[me] == NONE && staged[me] < SLOTS && where[staged[me]] == STAGING ->
        if
        :: whole[staged[me]] -> filling[staged[me]] = NOBODY; removeFiles(staged[me])
        :: else -> removeName(staged[me]); close(staged[me], me); staged[me] = NONE; at[me] = IN_USE
        fi }
    :: d_step { DOES(COMMITTED) && damaged[me] == NONE && !(staged[me] < SLOTS && where[staged[me]] == STAGING) ->
        staged[me] = NONE;
#ifdef LEASE_AFTER_COMMIT
        at[me] = REACH_LATE }
    :: d_step { DOES(REACH_LATE) -> reach(target[me]); at[me] = LEASE_LATE }
    :: d_step { DOES(LEASE_LATE) ->
        CLAIM(opened_tree_is_there_and_whole, leased[me] < SLOTS && remover[leased[me]] == NOBODY);
        users[leased[me]] = users[leased[me]] | BIT(me);
#endif
        at[me] = IN_USE }
    :: d_step { DOES(IN_USE) ->
        CLAIM(opened_tree_is_there_and_whole,
            leased[me] < SLOTS && build[leased[me]] == target[me] && whole[leased[me]]);
        CLAIM(opened_tree_is_there_and_whole, where[leased[me]] == APPS);
        recordedTrees(recorded_tree_is_there_and_whole);
        finish() }

    /* Trees.takeBack, in a transaction of its own, and what is discarded behind it and behind a refusal. */
    :: d_step { DOES(TAKE_BACK) && transaction == NOBODY ->
        if
        :: !IN(rows, target[me]) && where[staged[me]] == APPS && FREE_TO_TAKE_BACK(staged[me]) ->
            where[staged[me]] = STAGING; settleAll()
        :: else
        fi;
        at[me] = DISCARD }
    :: d_step { DOES(DISCARD) && staged[me] < SLOTS && where[staged[me]] == STAGING ->
        filling[staged[me]] = NOBODY;
        removeFiles(staged[me]);
        at[me] = DISCARDING }
    :: d_step { DOES(DISCARD) && !(staged[me] < SLOTS && where[staged[me]] == STAGING) -> at[me] = DISCARDING }
    :: d_step { DOES(DISCARDING) ->
        if
        :: staged[me] < SLOTS && where[staged[me]] == STAGING -> removeName(staged[me])
        :: else
        fi;
        if
        :: damaged[me] < SLOTS -> staged[me] = damaged[me]; damaged[me] = NONE; at[me] = DISCARD
        :: else -> finish()
        fi }
    od
}

/* ---- a process that prunes: StoreAdministration.prune, Trees.prune ---- */

#define IS_CANDIDATE(b) (IN(rows, b) && (removesAll || (b) < floor))
#define IS_STRANGER(x) (where[x] == APPS && !IN(rows & ~forgotten, build[x]))

proctype Pruner(byte me) {
end: do
    CLEANS_UP

    :: d_step { DOES(JUDGE) && transaction == NOBODY -> entry[me] = NONE; transaction = ME; at[me] = CANDIDATES }
    :: d_step { DOES(JUDGE) && transaction == NOBODY ->
        entry[me] = NONE; transaction = ME; removesAll = 1; at[me] = CANDIDATES }
    /* candidates and lockOut */
    :: d_step { DOES(CANDIDATES) ->
        do
        :: target[me] <= BUILDS && !IS_CANDIDATE(target[me]) -> target[me]++
        :: else -> break
        od;
        lookUp(target[me], entry[me]);
        if
        :: target[me] > BUILDS -> entry[me] = 0; at[me] = STRANGERS
        :: target[me] <= BUILDS && entry[me] == NONE -> forgotten = forgotten | BIT(target[me]); target[me]++
        :: target[me] <= BUILDS && entry[me] < SLOTS && !FREE_TO_PRUNE(entry[me]) -> entry[me] = NONE; target[me]++
        :: else ->
            fd[entry[me]] = fd[entry[me]] | BIT(me);
            remover[entry[me]] = ME;
            worker[entry[me]] = ME;
            forgotten = forgotten | BIT(target[me]);
            at[me] = MOVE
        fi }
    /* moveToStaging: the rename, and its sync before the commit. */
    :: d_step { DOES(MOVE) ->
        where[entry[me]] = STAGING;
        moved = moved | BIT(entry[me]);
        excused = excused | BIT(target[me]);
        entry[me] = NONE;
        settleAll();
        at[me] = MOVED }
    :: d_step { DOES(MOVED) -> syncApps(); target[me]++; at[me] = CANDIDATES }
    /* setAsideStrangers */
    :: d_step { DOES(STRANGERS) ->
        do
        :: entry[me] < SLOTS && !(IS_STRANGER(entry[me]) && IS_UNUSED(entry[me])) -> entry[me]++
        :: else -> break
        od;
        if
        :: entry[me] < SLOTS ->
            fd[entry[me]] = fd[entry[me]] | BIT(me);
#ifndef ASIDE_WITHOUT_LEASE
            remover[entry[me]] = ME;  /* without it, the lock was had and given back */
#endif
            at[me] = MOVE_ASIDE
        :: else -> entry[me] = NONE; at[me] = PRUNED
        fi }
    :: d_step { DOES(MOVE_ASIDE) ->
        CLAIM(pruning_leaves_what_is_used, !IS_USED(entry[me]));
        where[entry[me]] = ASIDE;
        settleAll();
        close(entry[me], me);
        entry[me]++;
        at[me] = STRANGERS }
    :: d_step { DOES(PRUNED) ->
        rows = rows & ~forgotten;
        excused = excused & ~forgotten;
        forgotten = 0;
        transaction = NOBODY;
        target[me] = 1;
        at[me] = REMOVE }
    :: d_step { DOES(PRUNED) && FAILING -> fail(); forgotten = 0; target[me] = 1; entry[me] = 0; at[me] = UNDO }
    /* putBack, in a transaction of its own; where the name is taken, the tree is removed. */
    :: d_step { DOES(UNDO) && MAY_PUT_BACK ->
#ifndef PUT_BACK_OUTSIDE_A_TRANSACTION
        transaction = ME;
#endif
        at[me] = PUT_BACK }
    :: d_step { DOES(PUT_BACK) ->
        do
        :: entry[me] < SLOTS && !IN(moved, entry[me]) -> entry[me]++
        :: else -> break
        od;
        if
        :: entry[me] < SLOTS ->
            lookUp(build[entry[me]], j);
            if
            :: j == NONE -> where[entry[me]] = APPS; moved = moved & ~BIT(entry[me]); settleAll(); at[me] = PUTTING_BACK
            :: else -> entry[me]++
            fi;
            j = 0
        :: else ->
            if
            :: transaction == ME -> transaction = NOBODY
            :: else
            fi;
            entry[me] = NONE;
            at[me] = REMOVE
        fi }
    :: d_step { DOES(PUTTING_BACK) ->
#ifndef PUT_BACK_WITHOUT_SYNC
        syncApps();
#endif
        if  /* one that was damaged before stays so, until it is opened */
        :: whole[entry[me]] -> excused = excused & ~BIT(build[entry[me]])
        :: else
        fi;
        close(entry[me], me);
        entry[me]++;
        at[me] = PUT_BACK }
    /* The files are deleted outside of the transaction. */
    :: d_step { DOES(REMOVE) ->
        entry[me] = 0;
        do
        :: entry[me] < SLOTS && !IN(moved, entry[me]) -> entry[me]++
        :: else -> break
        od;
        if
        :: entry[me] < SLOTS -> removeFiles(entry[me]); at[me] = REMOVING
        :: else -> finish()
        fi }
    :: d_step { DOES(REMOVING) ->
        removeName(entry[me]);
        close(entry[me], me);
        moved = moved & ~BIT(entry[me]);
        at[me] = REMOVE }
    od
}

/* ---- the administrator's lists: TrustCore.applyRevocations; each is one transaction, and what stops within it is undone ---- */

active proctype Administrator() {
end: do
    :: d_step { LISTS && !over && !revoked && transaction == NOBODY -> revoked = 1 }
    :: d_step { LISTS && !over && !withdrawn && transaction == NOBODY -> withdrawn = 1 }
    od
}

/* ---- what goes wrong ---- */

inline kill(p) {
    leave(p);
    at[p] = START
}

active proctype Faults() {
    byte p = 0;
end: do
    :: atomic { !over && faults > 0 && crashes > 0 && !EVERYBODY_IS_DONE ->
        if
        :: opens[0] > 0 -> p = 0
        :: opens[1] > 0 -> p = 1
        :: opens[2] > 0 -> p = 2
        :: opens[3] > 0 -> p = 3
        fi;
        d_step {
            kill(p);
            faults--;
            crashes--;
            p = 0;
            settleAll();
            halfTrees();
            if
            :: transaction == NOBODY -> recordedTrees(recorded_tree_is_there_and_whole)
            :: else
            fi
        } }
    :: atomic { !over && faults > 0 && powerLosses > 0 ->
        /* Each name that was not synced is as it was or as it is; each file that was not synced is there or not. */
        do
        :: p < SLOTS ->
            if
            :: where[p] != kept[p] -> where[p] = kept[p]
            :: true
            fi;
            if
            :: whole[p] && !synced[p] -> whole[p] = 0
            :: true
            fi;
            p++
        :: p == SLOTS -> break
        od;
        p = 0;
        do
        :: p < 4 ->
            if
            :: opens[p] > 0 -> d_step { kill(p) }
            :: opens[p] == 0
            fi;
            p++
        :: p == 4 -> break
        od;
        p = 0;
        d_step {
            faults--;
            powerLosses--;
            oneTreeAtAPath();
            syncFileSystem();
            halfTrees();
            recordedTrees(recorded_tree_survives_power_loss)
        } }
    :: atomic { !over && faults > 0 && damages > 0 && !EVERYBODY_IS_DONE ->
        do
        :: p < SLOTS - 1 -> p++
        :: where[p] == APPS && whole[p] -> break
        :: p == SLOTS - 1 -> break
        od;
        d_step {
            faults--;
            damages--;
            if
            :: where[p] == APPS && users[p] == 0 && IN(rows, build[p]) && transaction == NOBODY ->
                whole[p] = 0; synced[p] = 0; excused = excused | BIT(build[p])
            :: else
            fi;
            p = 0;
            settleAll()
        } }
    :: d_step { !over && EVERYBODY_IS_DONE ->
        /* Everybody is gone: the clean-up of one more start, and a pruning, leave nothing. */
        over = 1;
        recordedTrees(recorded_tree_is_there_and_whole);
        p = 0;
        do
        :: p < SLOTS ->
            CLAIM(nothing_is_left_over, fd[p] == 0 && worker[p] == NOBODY && IS_UNUSED(p));
#ifndef NO_CLEAN_UP
            if
            :: where[p] == STAGING -> where[p] = GONE
            :: else
            fi;
#endif
            if
            :: where[p] == APPS && !IN(rows, build[p]) -> where[p] = ASIDE
            :: else
            fi;
            CLAIM(nothing_is_left_over, where[p] != STAGING);
            p++
        :: else -> break
        od;
        p = 0 }
    od
}

init {
    byte p = 0;
    byte b = 1;
    atomic {
        do
        :: p < OPENERS ->
            /* The processes are alike: which of them opens which build does not matter, so the builds rise. */
#ifdef SCENE
            b = (p == 0 -> SCENE % 10 : (p == 1 -> (SCENE / 10) % 10 : SCENE / 100));
#else
            do
            :: b < BUILDS -> b++
            :: break
            od;
#endif
            opens[p] = OPENS;
            target[p] = b;
            d_step { kill(p) };
            run Opener(p);
            p++
        :: p == OPENERS -> break
        od;
        opens[p] = PRUNES;
        d_step { kill(p); if :: opens[p] == 0 -> at[p] = DONE :: else fi };
        run Pruner(p);
        b = 0;
        p = 0
    }
}

/*
 * Linux calls and constants that the Glibc module does not show to Swift.
 *
 * Each function is one system call: it returns what the call returns, or the negated errno.
 * Plain integers in, plain integers out, so that this header needs no _GNU_SOURCE (which would break other modules).
 */
#ifndef NSH_LINUX_H
#define NSH_LINUX_H

#include <stdint.h>

/* Open flags that the Glibc module lacks. */
int nsh_o_path(void);
int nsh_o_tmpfile(void);

/* openat2 beneath a directory: no symbolic or magic links, never out of the directory. */
int nsh_open_beneath(int directory, const char *path, int flags, unsigned int mode);

/* The same without openat2, one name after the other: for sandboxes and tools that do not know the call (ENOSYS). */
int nsh_walk_beneath(int directory, const char *path, int flags, unsigned int mode);

/* openat2 of a caller's path: magic links refused, symbolic links followed. */
int nsh_open_no_magic_links(int directory, const char *path, int flags);

/* renameat2 with RENAME_NOREPLACE: -EEXIST when the target is there. */
int nsh_rename_no_replace(int from_directory, const char *from, int to_directory, const char *to);

/* Writes back the whole file system that holds the descriptor. */
int nsh_syncfs(int descriptor);

/* fsync(2), made again when a signal interrupted it, like everything here that may be. */
int nsh_fsync(int descriptor);

/* open(2) as a plain function (it is variadic in C). */
int nsh_openat(int directory, const char *path, int flags, unsigned int mode);

/* A second descriptor of the same open file, closed on exec. */
int nsh_duplicate(int descriptor);

/* What stat tells of an open descriptor. */
struct nsh_stat {
    uint64_t device;
    uint64_t inode;
    uint64_t size;
    int64_t changed_nanoseconds; /* since 1970 UTC; of the content, the owner, the mode or a name */
    uint32_t mode;
    uint32_t owner;
    uint32_t group;
    uint32_t links;
};
int nsh_fstat(int descriptor, struct nsh_stat *result);
int nsh_fstatat(int directory, const char *path, int follow, struct nsh_stat *result);

/*
 * Whether an open file is the kernel's own: of /proc, /sys and their like, where a read may wait, consume what it reads, or
 * set something in motion. 1 or 0; also for descriptors that open nothing.
 */
int nsh_is_kernel_file(int descriptor);

/* Asks the kernel not to write this process's memory to a core file and bars other processes of the user. */
int nsh_forbid_core_dumps(void);

/*
 * The rights by which this thread alone reaches files. Each sets and returns what is in force then: the kernel refuses
 * silently. UINT32_MAX sets nothing.
 */
uint32_t nsh_file_system_user(uint32_t uid);
uint32_t nsh_file_system_group(uint32_t gid);

/* This thread's supplementary groups: glibc's functions would change those of every thread. */
int nsh_set_thread_groups(int count, const uint32_t *groups);
int nsh_thread_groups(int capacity, uint32_t *groups);

/* This thread's effective capabilities, a bit each. */
int nsh_effective_capabilities(uint64_t *bits);

/*
 * Makes this thread, and those that it starts, one that works in long pieces and wakes up to interrupt nobody: SCHED_BATCH
 * with so many nanoseconds at a time. The niceness has to be said again, and may only grow.
 */
int nsh_work_in_long_pieces(int niceness, uint64_t nanoseconds);

/* A counter to be woken by: readable once it was raised; reading it sets it back. Neither ever blocks. */
int nsh_event_counter(void);
int nsh_raise_event_counter(int descriptor);

/* Makes the allocator give memory back to the system rather than keep it for later: for a process that runs for long. */
void nsh_keep_memory_small(void);
/* Gives back what is free now. */
void nsh_give_memory_back(void);

/* The processor on which this thread runs just now, by its number; 0 where the system does not tell. No system call. */
unsigned int nsh_processor(void);

#endif

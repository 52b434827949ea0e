#define _GNU_SOURCE
#include "nsh_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

static int answer(long result) { return result < 0 ? -errno : (int)result; }

/* Whether a call that a signal interrupted is to be made again: slow file systems answer EINTR where others never do. */
static int again(long result) { return result < 0 && errno == EINTR; }

int nsh_o_path(void) { return O_PATH; }
int nsh_o_tmpfile(void) { return O_TMPFILE; }

static int open_how(int directory, const char *path, int flags, unsigned int mode, uint64_t resolve) {
    struct open_how how;
    memset(&how, 0, sizeof how);
    how.flags = (uint64_t)(unsigned int)flags | O_CLOEXEC;
    how.mode = mode;
    how.resolve = resolve;
    long result;
    do result = syscall(SYS_openat2, directory, path, &how, sizeof how);
    while (again(result));
    return answer(result);
}

int nsh_open_beneath(int directory, const char *path, int flags, unsigned int mode) {
    int result = open_how(directory, path, flags, mode, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
    return result == -ENOSYS ? nsh_walk_beneath(directory, path, flags, mode) : result;
}

int nsh_walk_beneath(int directory, const char *path, int flags, unsigned int mode) {
    if (*path == 0) return -ENOENT;
    if (*path == '/') return -EXDEV;
    int at = directory;
    while (1) {
        char name[NAME_MAX + 1];
        size_t length = strcspn(path, "/");
        const char *rest = path + length + strspn(path + length, "/");
        int result = -ENAMETOOLONG;
        if (length <= NAME_MAX) {
            memcpy(name, path, length);
            name[length] = 0;
            /* Out of the directory no name leads but this one, and links, which are not followed. */
            if (strcmp(name, "..") == 0) result = -EXDEV;
            else if (*rest) result = nsh_openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
            else result = nsh_openat(at, name, flags | O_NOFOLLOW | (path[length] ? O_DIRECTORY : 0), mode);
        }
        if (at != directory) close(at);
        if (result < 0 || *rest == 0) return result;
        at = result;
        path = rest;
    }
}

int nsh_open_no_magic_links(int directory, const char *path, int flags) {
    return open_how(directory, path, flags, 0, RESOLVE_NO_MAGICLINKS);
}

int nsh_rename_no_replace(int from_directory, const char *from, int to_directory, const char *to) {
    return answer(syscall(SYS_renameat2, from_directory, from, to_directory, to, 1 /* RENAME_NOREPLACE */));
}

int nsh_syncfs(int descriptor) {
    int result;
    do result = syncfs(descriptor);
    while (again(result));
    return answer(result);
}

int nsh_fsync(int descriptor) {
    int result;
    do result = fsync(descriptor);
    while (again(result));
    return answer(result);
}

int nsh_openat(int directory, const char *path, int flags, unsigned int mode) {
    int result;
    do result = openat(directory, path, flags | O_CLOEXEC, mode);
    while (again(result));
    return answer(result);
}

int nsh_duplicate(int descriptor) { return answer(fcntl(descriptor, F_DUPFD_CLOEXEC, 3)); }

static int report(int failed, const struct stat *s, struct nsh_stat *result) {
    if (failed) return -errno;
    result->device = s->st_dev;
    result->inode = s->st_ino;
    result->size = (uint64_t)s->st_size;
    result->changed_nanoseconds = (int64_t)((uint64_t)s->st_ctim.tv_sec * 1000000000u + (uint64_t)s->st_ctim.tv_nsec);
    result->mode = s->st_mode;
    result->owner = s->st_uid;
    result->group = s->st_gid;
    result->links = (uint32_t)s->st_nlink;
    return 0;
}

int nsh_fstat(int descriptor, struct nsh_stat *result) {
    struct stat s;
    return report(fstat(descriptor, &s), &s, result);
}

int nsh_is_kernel_file(int descriptor) {
    /* The f_type of statfs(2): those of <linux/magic.h>, and of file systems that keep theirs to themselves. */
    static const long kernel[] = {
        0x9fa0 /* proc */, 0x62656572 /* sysfs */, 0x64626720 /* debugfs */, 0x74726163 /* tracefs */,
        0x73636673 /* securityfs */, 0x27e0eb /* cgroup */, 0x63677270 /* cgroup2 */, 0xcafe4a11 /* bpf */,
        0x62656570 /* configfs */, 0xde5e81e4 /* efivarfs */, 0x6165676c /* pstore */, 0x42494e4d /* binfmt_misc */,
        0xf97cff8c /* selinuxfs */, 0x43415d53 /* smackfs */, 0x5a3c69f0 /* apparmorfs */, 0x65735543 /* fusectl */,
        0x07655821 /* resctrl */, 0x19800202 /* mqueue */, 0x1cd1 /* devpts */, 0x6e736673 /* nsfs */,
        0x09041934 /* anonymous inodes */, 0xabba1974 /* xenfs */, 0x6e667364 /* nfsd */, 0x67596969 /* rpc_pipefs */,
    };
    struct statfs s;
    if (fstatfs(descriptor, &s)) return -errno;
    for (unsigned i = 0; i < sizeof kernel / sizeof *kernel; i++)
        if ((long)s.f_type == kernel[i]) return 1;
    return 0;
}

int nsh_fstatat(int directory, const char *path, int follow, struct nsh_stat *result) {
    struct stat s;
    return report(fstatat(directory, path, &s, follow ? 0 : AT_SYMLINK_NOFOLLOW), &s, result);
}

uint32_t nsh_file_system_user(uint32_t uid) {
    if (uid != UINT32_MAX) setfsuid(uid);
    return (uint32_t)setfsuid((uid_t)-1);
}

uint32_t nsh_file_system_group(uint32_t gid) {
    if (gid != UINT32_MAX) setfsgid(gid);
    return (uint32_t)setfsgid((gid_t)-1);
}

int nsh_set_thread_groups(int count, const uint32_t *groups) { return answer(syscall(SYS_setgroups, count, groups)); }

int nsh_thread_groups(int capacity, uint32_t *groups) { return answer(syscall(SYS_getgroups, capacity, groups)); }

int nsh_effective_capabilities(uint64_t *bits) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
    memset(data, 0, sizeof data);
    int result = answer(syscall(SYS_capget, &header, data));
    *bits = (uint64_t)data[0].effective | (uint64_t)data[1].effective << 32;
    return result;
}

int nsh_work_in_long_pieces(int niceness, uint64_t nanoseconds) {
    /* As the kernel had it first; glibc 2.36 declares neither the call nor the structure. */
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attributes = {.size = sizeof attributes, .policy = SCHED_BATCH, .nice = niceness, .runtime = nanoseconds};
    return answer(syscall(SYS_sched_setattr, 0, &attributes, 0));
}

int nsh_event_counter(void) { return answer(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

int nsh_raise_event_counter(int descriptor) { return answer(eventfd_write(descriptor, 1)); }

int nsh_forbid_core_dumps(void) { return answer(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)); }

void nsh_keep_memory_small(void) {
    /* Few arenas: one for each thread would keep what its thread once needed. */
    mallopt(M_ARENA_MAX, 2);
    /* A fixed threshold: the allocator would raise it up to 32 MiB and keep the buffers of packages. */
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
    mallopt(M_TRIM_THRESHOLD, 1 << 20);
}

void nsh_give_memory_back(void) { malloc_trim(0); }

unsigned int nsh_processor(void) {
    int number = sched_getcpu();
    return number < 0 ? 0 : (unsigned int)number;
}

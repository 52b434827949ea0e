#define _GNU_SOURCE
#include "nsh_socket.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif

static int made(int descriptor) { return descriptor < 0 ? -errno : descriptor; }

int nsh_stream_socket(void) { return made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

int nsh_datagram_socket(int seconds) {
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const struct timeval patience = {.tv_sec = seconds};
    if (descriptor >= 0) (void)setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    return made(descriptor);
}

int nsh_socket_pair(int ends[2]) {
    return made(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends));
}

static int option(int descriptor, int name) {
    int value = -1;
    socklen_t length = sizeof value;
    return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) ? -1 : value;
}

int nsh_is_listening_stream(int descriptor) {
    return option(descriptor, SO_TYPE) == SOCK_STREAM && option(descriptor, SO_ACCEPTCONN) == 1;
}

int nsh_peer(int descriptor, struct nsh_peer *result) {
    struct ucred who;
    socklen_t length = sizeof who;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &who, &length)) return -errno;
    if (length != sizeof who) return -EINVAL;
    result->process = who.pid;
    result->user = who.uid;
    result->group = who.gid;
    return 0;
}

int nsh_peer_groups(int descriptor, uint32_t *groups, int capacity) {
    _Static_assert(sizeof(gid_t) == sizeof(uint32_t), "a group id has 32 bits");
    socklen_t length = (socklen_t)capacity * sizeof *groups;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERGROUPS, groups, &length)) return -errno;
    return (int)(length / sizeof *groups);
}

long nsh_send(int descriptor, const void *bytes, size_t count) {
    ssize_t sent = send(descriptor, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent < 0 ? -errno : sent;
}

int nsh_is_hung_up(short results) { return (results & (POLLHUP | POLLERR | POLLNVAL)) != 0; }

/*
 * Socket calls that the Glibc module does not show to Swift; see nsh_linux.h for the conventions.
 */
#ifndef NSH_SOCKET_H
#define NSH_SOCKET_H

#include <stddef.h>
#include <stdint.h>

/* Who was at the other end when the connection was made (SO_PEERCRED). */
struct nsh_peer {
    int32_t process;
    uint32_t user;
    uint32_t group;
};
int nsh_peer(int descriptor, struct nsh_peer *result);

/* The other end's supplementary groups (SO_PEERGROUPS): how many there are, or -ERANGE for more than `capacity`. */
int nsh_peer_groups(int descriptor, uint32_t *groups, int capacity);

/* Two stream sockets connected to each other, closed on exec. */
int nsh_socket_pair(int ends[2]);

/* Sends what the socket takes at once, without a SIGPIPE. */
long nsh_send(int descriptor, const void *bytes, size_t count);

/* Whether poll(2)'s results say that the other end is gone: closed both ways. */
int nsh_is_hung_up(short results);

#endif

/*
 * Socket calls that the Glibc module does not show to Swift; see nsh_linux.h for the conventions.
 */
#ifndef NSH_SOCKET_H
#define NSH_SOCKET_H

#include <stddef.h>
#include <stdint.h>

/* An unnamed Unix socket of bytes that does not block and is closed on exec; a pair of these. */
int nsh_stream_socket(void);
int nsh_socket_pair(int ends[2]);

/* One for datagrams, closed on exec; a receiver that takes none keeps the sender waiting for so many seconds. */
int nsh_datagram_socket(int seconds);

/* Whether the descriptor is a stream socket on which somebody listens. */
int nsh_is_listening_stream(int descriptor);

/* Who was at the other end when the connection was made (SO_PEERCRED). */
struct nsh_peer {
    int32_t process;
    uint32_t user;
    uint32_t group;
};
int nsh_peer(int descriptor, struct nsh_peer *result);

/* The other end's supplementary groups (SO_PEERGROUPS): how many there are, or -ERANGE for more than `capacity`. */
int nsh_peer_groups(int descriptor, uint32_t *groups, int capacity);

/* Sends what the socket takes at once, without a SIGPIPE. */
long nsh_send(int descriptor, const void *bytes, size_t count);

/* Whether poll(2)'s results say that the other end is gone: closed both ways. */
int nsh_is_hung_up(short results);

#endif

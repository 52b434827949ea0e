/*
 * What a command-line program needs of the C library and Swift cannot call: getopt_long, signals, window size.
 *
 * Like nsh_linux.h: plain integers and pointers, errors as negated errno.
 */
#ifndef NSH_TOOL_H
#define NSH_TOOL_H

/* The command line. Swift's runtime reads it from /proc, which is not always there and takes a descriptor. */
int nsh_argument_count(void);
const char *nsh_argument(int index);

/* One long option; the array ends with a null name. */
struct nsh_option {
    const char *name;
    int takes_value;
    int letter; /* its short form, or a number above 255 that stands for it */
};

/* What the next element of the command line is. */
struct nsh_option_found {
    int letter;        /* the option's, 1 for an operand, '?' unknown, ':' value missing, -1 at the end */
    int index;         /* of the long option in the array, or -1 */
    int token;         /* of the element in argv that was looked at */
    int next;          /* of the element in argv that comes next */
    const char *value; /* the option's value or the operand, or null */
};

/* Reads the next element; operands come in their order. `restart` begins a new command line. Not thread-safe. */
struct nsh_option_found nsh_next_option(
    int argc, char *const *argv, const char *letters, const struct nsh_option *options, int count, int restart);

/* A descriptor that is readable when one of the signals, which are blocked from now on, is pending. */
int nsh_signal_descriptor(const int *signals, int count);
/* Lets the signals through again: a pending one acts before this returns. */
int nsh_unblock_signals(const int *signals, int count);

/* From now on the first SIGINT, SIGTERM or SIGHUP is only remembered; a second one acts as usual. */
void nsh_remember_interruption(void);
/* The remembered signal, or 0. */
int nsh_interruption(void);

/* Columns of the terminal, or 0 when it is none. */
int nsh_terminal_columns(int descriptor);

#endif

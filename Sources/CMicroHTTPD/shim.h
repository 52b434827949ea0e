#include <microhttpd.h>
#include <stddef.h>
#include <stdint.h>
#include <strings.h>

/* What libmicrohttpd calls; every function gets `context` first. */
struct nsh_mhd_callbacks {
    void *context;
    void *(*target)(void *context, const char *target, struct MHD_Connection *connection);
    MHD_AccessHandlerCallback request;
    MHD_RequestCompletedCallback completed;
    MHD_NotifyConnectionCallback connection;
    MHD_LogCallback log;
};

/*
 * Starts one thread that accepts connections and serves them; NULL when it cannot be started. The function is variadic
 * in C, which Swift cannot call. We let it accept: on each answer of a connection that it did not accept itself it tries
 * two options of TCP, which a Unix socket refuses.
 */
static inline struct MHD_Daemon *nsh_mhd_start(
    const struct nsh_mhd_callbacks *callbacks, int listening, size_t connection_bytes, unsigned int connections) {
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG,
        0, NULL, NULL, callbacks->request, callbacks->context,
        MHD_OPTION_EXTERNAL_LOGGER, callbacks->log, callbacks->context,
        MHD_OPTION_LISTEN_SOCKET, listening,
        MHD_OPTION_URI_LOG_CALLBACK, callbacks->target, callbacks->context,
        MHD_OPTION_NOTIFY_COMPLETED, callbacks->completed, callbacks->context,
        MHD_OPTION_NOTIFY_CONNECTION, callbacks->connection, callbacks->context,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_bytes,
        MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_END);
}

/* Hands a connected Unix socket over; it is closed in any case. */
static inline int nsh_mhd_add(struct MHD_Daemon *daemon, int descriptor) {
    struct sockaddr address = {.sa_family = AF_UNIX};
    return MHD_add_connection(daemon, descriptor, &address, sizeof address) == MHD_YES;
}

/* The descriptor of a connection, -1 when it is not known; what the application noted on it. */
static inline int nsh_mhd_descriptor(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}
static inline void *nsh_mhd_noted(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* A piece of text in libmicrohttpd's memory, valid until the request is answered; no text when `bytes` is NULL. */
struct nsh_mhd_text {
    const char *bytes;
    size_t count;
};

/* The headers that the server looks at, found in one walk. */
struct nsh_mhd_headers {
    struct nsh_mhd_text content_type, content_length, transfer_encoding, host, last_event_id, expect;
    /* Whether one of these is there more than once. */
    int is_repeated;
    /* Whether a name has a byte that no name may have. */
    int has_bad_name;
    /* Whether a value has a control character. */
    int has_bad_value;
    int is_from_browser;
    /* Where the first name begins and the last value ends; NULL without headers. */
    const char *first, *end;
    /* Whether the lines do not follow each other as they were sent. */
    int is_uneven;
};

static inline enum MHD_Result nsh_mhd_note_header(
    void *context, enum MHD_ValueKind kind, const char *name, size_t name_size, const char *value, size_t value_size) {
    struct nsh_mhd_headers *headers = context;
    struct nsh_mhd_text *text = NULL;
    (void)kind;
    /*
     * libmicrohttpd ends each name and value where they lie, and reads up to the first NUL. So a NUL inside a line leaves
     * a gap before the next one; a folded line, which it glues to the name and not to the value, an overlap or a gap
     * between the two; a line that ends with CR or LF alone is one byte short.
     */
    const char *behind = name + name_size + 1;
    if (!value || value < behind || (headers->end && name != headers->end + 2)) headers->is_uneven = 1;
    else while (behind < value && !headers->is_uneven) {
        if (*behind != ' ' && *behind != '\t') headers->is_uneven = 1;
        behind++;
    }
    if (!headers->first) headers->first = name;
    if (value) headers->end = value + value_size;
    if (name_size == 0) headers->has_bad_name = 1;
    for (size_t i = 0; i < name_size; i++)
        if (name[i] <= 0x20 || name[i] >= 0x7f || name[i] == ':') headers->has_bad_name = 1;
    for (size_t i = 0; value && i < value_size; i++)
        if (((unsigned char)value[i] < 0x20 && value[i] != '\t') || value[i] == 0x7f) headers->has_bad_value = 1;
    switch (name_size) {
        case 4: if (!strcasecmp(name, "Host")) text = &headers->host; break;
        case 6:
            if (!strcasecmp(name, "Expect")) text = &headers->expect;
            else if (!strcasecmp(name, "Origin")) headers->is_from_browser = 1;
            break;
        case 12: if (!strcasecmp(name, "Content-Type")) text = &headers->content_type; break;
        case 13: if (!strcasecmp(name, "Last-Event-ID")) text = &headers->last_event_id; break;
        case 14: if (!strcasecmp(name, "Content-Length")) text = &headers->content_length; break;
        case 17: if (!strcasecmp(name, "Transfer-Encoding")) text = &headers->transfer_encoding; break;
    }
    if (name_size > 10 && !strncasecmp(name, "Sec-Fetch-", 10)) headers->is_from_browser = 1;
    if (text) {
        if (text->bytes) headers->is_repeated = 1;
        text->bytes = value ? value : "";
        text->count = value ? value_size : 0;
    }
    return MHD_YES;
}

static inline struct nsh_mhd_headers nsh_mhd_headers(struct MHD_Connection *connection) {
    struct nsh_mhd_headers headers = {0};
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, nsh_mhd_note_header, &headers);
    return headers;
}

/* The bytes from the version to the end of the last header of a plain head; none without headers. */
static inline struct nsh_mhd_text nsh_mhd_lines(struct nsh_mhd_headers headers, const char *version) {
    struct nsh_mhd_text lines = {0};
    if (headers.end && headers.end > version) {
        lines.bytes = version;
        lines.count = (size_t)(headers.end - version);
    }
    return lines;
}

/* Whether the request line and the headers lie in memory as a head of plain lines does, none cut off by a NUL. */
static inline int nsh_mhd_is_plain(
    const struct nsh_mhd_headers *headers, const char *method, const char *target, size_t target_size,
    const char *version) {
    if (headers->is_uneven || method + strlen(method) + 1 != target || target + target_size + 1 != version) return 0;
    if (!headers->first) return 1;
    return version + strlen(version) + 2 == headers->first && headers->end[1] == 0;
}

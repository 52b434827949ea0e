/* floor: the least that checking and unpacking a package takes, as a yardstick for the benchmarks.
 *
 *   floor seal PACKAGE OFFSET CHUNK tar|zstd    writes PACKAGE.floor: a signed list of the payload's chunk digests
 *   floor run PACKAGE [-d DIRECTORY] [-f] [-t] [-s]
 *                                               checks the signature and each chunk; -d unpacks, -f hashes each file of the
 *                                               archive too, as the format asks (SUM-7), -t hashes chunks on a second
 *                                               thread, -s makes what was written durable with one syncfs
 *   floor hash FILE                             SHA-256 of each half of a file on a thread of its own: every byte once
 *
 * It reads the same package files as our tool, from the payload's offset on. It is NOT a verifier: it knows no trust, no
 * limits and no rules for names, and believes its own list.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <nettle/sha2.h>
#include <pthread.h>
#include <sodium.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define DIGEST 32
#define SLOTS 4

/* The list as it lies in PACKAGE.floor, followed by `count` digests; the signature covers all behind it. */
struct list {
    unsigned char signature[crypto_sign_BYTES], key[crypto_sign_PUBLICKEYBYTES];
    uint64_t offset, size, chunk, count, is_zstd;
};

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void read_fully(int file, unsigned char *into, size_t count, uint64_t offset) {
    while (count) {
        ssize_t got = pread(file, into, count, (off_t)offset);
        if (got <= 0) fail("pread");
        into += got, offset += (uint64_t)got, count -= (size_t)got;
    }
}

static void write_fully(int file, const unsigned char *from, size_t count) {
    while (count) {
        ssize_t put = write(file, from, count);
        if (put <= 0) fail("write");
        from += put, count -= (size_t)put;
    }
}

static void digest_of(const unsigned char *bytes, size_t count, unsigned char *digest) {
    struct sha256_ctx context;
    sha256_init(&context);
    sha256_update(&context, count, bytes);
    sha256_digest(&context, DIGEST, digest);
}

/* -- the payload, chunk by chunk ------------------------------------------------------------------------------ */

static int package;
static struct list list;
static unsigned char *digests;

static size_t chunk_size(uint64_t index) {
    uint64_t start = index * list.chunk;
    return (size_t)(list.size - start < list.chunk ? list.size - start : list.chunk);
}

static void check_chunk(uint64_t index, unsigned char *buffer) {
    unsigned char digest[DIGEST];
    read_fully(package, buffer, chunk_size(index), list.offset + index * list.chunk);
    digest_of(buffer, chunk_size(index), digest);
    if (memcmp(digest, digests + index * DIGEST, DIGEST)) {
        fprintf(stderr, "floor: chunk %llu is not what was signed\n", (unsigned long long)index);
        exit(1);
    }
}

/* -- the archive ---------------------------------------------------------------------------------------------- */

static int root = -1, directory = -1, output = -1;
static char directory_name[4096] = "?";
static unsigned char block[512];
static size_t block_filled;
static uint64_t data_left, padding_left;
static char long_path[4096];
static size_t long_path_size;
static int has_ended, reads_pax, hashes_files;
static struct sha256_ctx file_context;

static int open_directory(char *path) {
    int found = openat(root, *path ? path : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (found >= 0) return found;
    for (char *end = path;; end++) {
        if (*end && *end != '/') continue;
        char kept = *end;
        *end = 0;
        mkdirat(root, path, 0755);
        *end = kept;
        if (!kept) break;
    }
    return openat(root, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static void begin_member(void) {
    if (!block[0]) {
        has_ended = 1;
        return;
    }
    data_left = strtoull((char *)block + 124, NULL, 8);
    padding_left = (512 - data_left % 512) % 512;
    reads_pax = block[156] == 'x';
    if (reads_pax) {
        long_path_size = 0;
        return;
    }
    char path[4096];
    if (long_path_size) {
        char *value = memmem(long_path, long_path_size, "path=", 5);
        if (!value) fail("pax");
        snprintf(path, sizeof path, "%.*s", (int)(strchr(value, '\n') - value - 5), value + 5);
        long_path_size = 0;
    } else if (block[345]) {
        snprintf(path, sizeof path, "%.155s/%.100s", block + 345, block);
    } else {
        snprintf(path, sizeof path, "%.100s", block);
    }
    sha256_init(&file_context);
    if (root < 0) return;
    char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *parent = slash ? path : "";
    if (slash) *slash = 0;
    if (strcmp(parent, directory_name)) {
        if (directory >= 0) close(directory);
        directory = open_directory(parent);
        if (directory < 0) fail(parent);
        snprintf(directory_name, sizeof directory_name, "%s", parent);
    }
    output = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (output < 0) fail(name);
    if (!data_left) close(output), output = -1;
}

static void end_of_data(void) {
    unsigned char digest[DIGEST];
    if (hashes_files && !reads_pax) sha256_digest(&file_context, DIGEST, digest);
    if (output >= 0) close(output), output = -1;
}

static void unpack(const unsigned char *bytes, size_t count) {
    while (count && !has_ended) {
        if (data_left) {
            size_t part = data_left < count ? (size_t)data_left : count;
            if (reads_pax) {
                if (long_path_size + part >= sizeof long_path) fail("pax");
                memcpy(long_path + long_path_size, bytes, part);
                long_path_size += part, long_path[long_path_size] = 0;
            } else {
                if (hashes_files) sha256_update(&file_context, part, bytes);
                if (output >= 0) write_fully(output, bytes, part);
            }
            data_left -= part, bytes += part, count -= part;
            if (!data_left) end_of_data();
        } else if (padding_left) {
            size_t part = padding_left < count ? (size_t)padding_left : count;
            padding_left -= part, bytes += part, count -= part;
        } else {
            size_t part = 512 - block_filled < count ? 512 - block_filled : count;
            memcpy(block + block_filled, bytes, part);
            block_filled += part, bytes += part, count -= part;
            if (block_filled == 512) block_filled = 0, begin_member();
        }
    }
}

static ZSTD_DStream *stream;
static unsigned char *unpacked;

static void take(const unsigned char *bytes, size_t count) {
    if (root < 0 && !hashes_files) return;
    if (!list.is_zstd) {
        unpack(bytes, count);
        return;
    }
    ZSTD_inBuffer in = {bytes, count, 0};
    ZSTD_outBuffer out = {unpacked, 131072, 0};
    do {
        out.pos = 0;
        if (ZSTD_isError(ZSTD_decompressStream(stream, &out, &in))) fail("zstd");
        unpack(unpacked, out.pos);
    } while (in.pos < in.size || out.pos == out.size);
}

/* -- a second thread that hashes ahead ------------------------------------------------------------------------- */

static unsigned char *slots[SLOTS];
static uint64_t hashed, taken;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;

static void advance(uint64_t *count) {
    pthread_mutex_lock(&lock);
    ++*count;
    pthread_cond_signal(&moved);
    pthread_mutex_unlock(&lock);
}

static void *hash_ahead(void *unused) {
    for (uint64_t index = 0; index < list.count; index++) {
        pthread_mutex_lock(&lock);
        while (hashed - taken >= SLOTS) pthread_cond_wait(&moved, &lock);
        pthread_mutex_unlock(&lock);
        check_chunk(index, slots[index % SLOTS]);
        advance(&hashed);
    }
    return unused;
}

static void *hash_second_half(void *buffer) {
    for (uint64_t index = list.count / 2; index < list.count; index++) check_chunk(index, buffer);
    return NULL;
}

static void run_with_two_threads(void) {
    pthread_t other;
    for (int slot = 0; slot < SLOTS; slot++) slots[slot] = malloc(list.chunk);
    if (root < 0 && !hashes_files) {
        pthread_create(&other, NULL, hash_second_half, slots[1]);
        for (uint64_t index = 0; index < list.count / 2; index++) check_chunk(index, slots[0]);
    } else {
        pthread_create(&other, NULL, hash_ahead, NULL);
        for (uint64_t index = 0; index < list.count; index++) {
            pthread_mutex_lock(&lock);
            while (hashed <= index) pthread_cond_wait(&moved, &lock);
            pthread_mutex_unlock(&lock);
            take(slots[index % SLOTS], chunk_size(index));
            advance(&taken);
        }
    }
    pthread_join(other, NULL);
}

/* -- the limit: all bytes through SHA-256 once, on two cores ------------------------------------------------------- */

#define PIECE 262144u

struct half {
    uint64_t begin, end;
    unsigned char digest[DIGEST];
};

static void *hash_half(void *argument) {
    struct half *half = argument;
    struct sha256_ctx context;
    unsigned char *buffer = malloc(PIECE);
    sha256_init(&context);
    for (uint64_t place = half->begin; place < half->end;) {
        size_t count = half->end - place < PIECE ? (size_t)(half->end - place) : PIECE;
        read_fully(package, buffer, count, place);
        sha256_update(&context, count, buffer);
        place += count;
    }
    sha256_digest(&context, DIGEST, half->digest);
    free(buffer);
    return NULL;
}

static int hash_halves(void) {
    struct stat status;
    pthread_t other;
    if (fstat(package, &status)) fail("fstat");
    uint64_t size = (uint64_t)status.st_size;
    struct half halves[2] = {{0, size / 2, {0}}, {size / 2, size, {0}}};
    pthread_create(&other, NULL, hash_half, &halves[1]);
    hash_half(&halves[0]);
    pthread_join(other, NULL);
    return 0;
}

/* -- the commands ---------------------------------------------------------------------------------------------- */

static size_t signed_size(void) { return sizeof list - sizeof list.signature + (size_t)list.count * DIGEST; }

static unsigned char *signed_bytes(void) {
    unsigned char *bytes = malloc(signed_size());
    size_t fixed = sizeof list - sizeof list.signature;
    memcpy(bytes, (unsigned char *)&list + sizeof list.signature, fixed);
    memcpy(bytes + fixed, digests, (size_t)list.count * DIGEST);
    return bytes;
}

static int seal(char **words, const char *list_path) {
    struct stat status;
    if (fstat(package, &status)) fail("fstat");
    list.offset = strtoull(words[3], NULL, 10), list.chunk = strtoull(words[4], NULL, 10);
    list.is_zstd = !strcmp(words[5], "zstd");
    list.size = (uint64_t)status.st_size - list.offset;
    list.count = (list.size + list.chunk - 1) / list.chunk;
    digests = malloc((size_t)list.count * DIGEST);
    unsigned char *buffer = malloc(list.chunk), secret[crypto_sign_SECRETKEYBYTES];
    for (uint64_t index = 0; index < list.count; index++) {
        read_fully(package, buffer, chunk_size(index), list.offset + index * list.chunk);
        digest_of(buffer, chunk_size(index), digests + index * DIGEST);
    }
    crypto_sign_keypair(list.key, secret);
    crypto_sign_detached(list.signature, NULL, signed_bytes(), signed_size(), secret);
    int file = open(list_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) fail(list_path);
    write_fully(file, (unsigned char *)&list, sizeof list);
    write_fully(file, digests, (size_t)list.count * DIGEST);
    return close(file);
}

static int run(int count, char **words, const char *list_path) {
    int two_threads = 0, durable = 0;
    for (int word = 3; word < count; word++) {
        if (!strcmp(words[word], "-t")) two_threads = 1;
        else if (!strcmp(words[word], "-s")) durable = 1;
        else if (!strcmp(words[word], "-f")) hashes_files = 1;
        else if (!strcmp(words[word], "-d") && ++word < count) {
            if (mkdir(words[word], 0755) || (root = open(words[word], O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
                fail(words[word]);
        } else return 2;
    }
    int file = open(list_path, O_RDONLY | O_CLOEXEC);
    if (file < 0) fail(list_path);
    read_fully(file, (unsigned char *)&list, sizeof list, 0);
    digests = malloc((size_t)list.count * DIGEST);
    read_fully(file, digests, (size_t)list.count * DIGEST, sizeof list);
    if (crypto_sign_verify_detached(list.signature, signed_bytes(), signed_size(), list.key)) {
        fprintf(stderr, "floor: the list of digests is not what was signed\n");
        return 1;
    }
    if (list.is_zstd) stream = ZSTD_createDStream(), unpacked = malloc(131072);
    if (two_threads) {
        run_with_two_threads();
    } else {
        unsigned char *buffer = malloc(list.chunk);
        for (uint64_t index = 0; index < list.count; index++) {
            check_chunk(index, buffer);
            take(buffer, chunk_size(index));
        }
    }
    if ((root >= 0 || hashes_files) && !has_ended) return 1;
    if (durable && root >= 0 && syncfs(root)) fail("syncfs");
    return 0;
}

int main(int count, char **words) {
    char list_path[4096];
    if (count < 3 || sodium_init() < 0) return 2;
    package = open(words[2], O_RDONLY | O_CLOEXEC);
    if (package < 0) fail(words[2]);
    snprintf(list_path, sizeof list_path, "%s.floor", words[2]);
    if (count == 6 && !strcmp(words[1], "seal")) return seal(words, list_path);
    if (count == 3 && !strcmp(words[1], "hash")) return hash_halves();
    if (!strcmp(words[1], "run")) return run(count, words, list_path);
    return 2;
}

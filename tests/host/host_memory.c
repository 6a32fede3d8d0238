/* SPDX-License-Identifier: Apache-2.0 */
/* host_memory.c - the memory that the extension takes: counted, and made to fail.
 *
 * The functions here come before those of libc for the whole program. A call counts as the extension's where it comes
 * from an address of its library, so that the host's own memory never fails. Under sanitizers, which have such
 * functions of their own, nothing is counted and nothing fails. */
#include "host.h"

#include <errno.h>
#include <link.h>
#include <stdlib.h>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static uintptr_t lowest, highest; /* of the library */
static long live, taken, fail_at;

/* Its blocks: where they are freed by a jump, the address that is returned to is no longer the library's. */
enum { TABLE = 1 << 18 };
static uintptr_t table[TABLE]; /* 0: free, 1: was used */
static char locked;

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void __libc_free(void *p);

static bool
is_guest(void *from)
{
    return (uintptr_t)from >= lowest && (uintptr_t)from < highest;
}

static void
lock(void)
{
    while (__atomic_test_and_set(&locked, __ATOMIC_ACQUIRE)) {
    }
}

static void *
note(void *p)
{
    if (!p) {
        return NULL;
    }
    lock();
    size_t i = ((uintptr_t)p >> 4) * 0x9E3779B1u % TABLE;
    while (table[i] > 1) {
        i = (i + 1) % TABLE;
    }
    table[i] = (uintptr_t)p;
    live++;
    __atomic_clear(&locked, __ATOMIC_RELEASE);
    return p;
}

/* True where it was one. */
static bool
forget(void *p)
{
    bool found = false;
    if (!p || !highest) {
        return false;
    }
    lock();
    for (size_t i = ((uintptr_t)p >> 4) * 0x9E3779B1u % TABLE; table[i] && !found; i = (i + 1) % TABLE) {
        if (table[i] == (uintptr_t)p) {
            table[i] = table[(i + 1) % TABLE] ? 1 : 0;
            live--;
            found = true;
        }
    }
    __atomic_clear(&locked, __ATOMIC_RELEASE);
    return found;
}

/* Whether this allocation of the extension is to fail. */
static bool
fails(void)
{
    long no = __atomic_add_fetch(&taken, 1, __ATOMIC_RELAXED);
    if (fail_at && no == fail_at) {
        errno = ENOMEM;
        return true;
    }
    return false;
}

void *
malloc(size_t n)
{
    return !is_guest(__builtin_return_address(0)) ? __libc_malloc(n) : fails() ? NULL : note(__libc_malloc(n));
}

void *
calloc(size_t n, size_t size)
{
    return !is_guest(__builtin_return_address(0)) ? __libc_calloc(n, size)
           : fails()                              ? NULL
                                                  : note(__libc_calloc(n, size));
}

void *
realloc(void *p, size_t n)
{
    if (!is_guest(__builtin_return_address(0))) {
        return __libc_realloc(p, n);
    }
    if (fails()) {
        return NULL;
    }
    bool known = forget(p);
    void *q = __libc_realloc(p, n);
    return q ? note(q) : known ? (note(p), NULL) : NULL;
}

void
free(void *p)
{
    forget(p);
    __libc_free(p);
}

char *
strdup(const char *text)
{
    size_t n = strlen(text) + 1;
    bool guest = is_guest(__builtin_return_address(0));
    char *p = guest && fails() ? NULL : __libc_malloc(n);
    if (p) {
        memcpy(p, text, n);
    }
    return guest ? note(p) : p;
}

static int
find_library(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    if (!strstr(info->dlpi_name, "mongoreshape_ext")) {
        return 0;
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (info->dlpi_phdr[i].p_type == PT_LOAD) {
            lowest = lowest && lowest < at ? lowest : at;
            highest = at + info->dlpi_phdr[i].p_memsz > highest ? at + info->dlpi_phdr[i].p_memsz : highest;
        }
    }
    return 1;
}

bool
host_memory_watch(void)
{
    lowest = highest = 0;
    dl_iterate_phdr(find_library, NULL);
    return highest != 0;
}

long
host_memory_live(void)
{
    return live;
}

long
host_memory_fail(long at)
{
    long before = taken;
    taken = 0;
    fail_at = at;
    return before;
}
#else
bool
host_memory_watch(void)
{
    return false;
}

long
host_memory_live(void)
{
    return 0;
}

long
host_memory_fail(long at)
{
    (void)at;
    return 0;
}
#endif

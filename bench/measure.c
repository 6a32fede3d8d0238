/* SPDX-License-Identifier: Apache-2.0 */
/* measure.c - measure [-o FILE] [-w] COMMAND...: one line of figures about a command, on standard output:
 *
 *     wall seconds, user and system CPU seconds, peak RSS in MiB, exit status
 *
 * RSS is that of the process (and its waited-for children, the largest), as the kernel counts it. The command's own
 * standard output goes to FILE (/dev/null).
 *
 * -w: memory is warmed up before. A virtual machine may hand memory that lies free back to its host within seconds, and
 * gets it again at a fraction of its speed: what a program then pays for its pages, and for those of its files, depends
 * on what ran before it and how long ago. */
#include "clock.h"
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double
seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* Writes to 2 GiB, or to half of what is free if that is less, and lets them go. */
static void
warm_up(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), most = (size_t)2 << 30;
    size_t half = (size_t)sysconf(_SC_AVPHYS_PAGES) / 2 * page, n = half < most ? half : most;
    uint8_t *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        return;
    }
    (void)madvise(p, n, MADV_HUGEPAGE);
    for (size_t i = 0; i < n; i += page) {
        p[i] = 1;
    }
    munmap(p, n);
}

int
main(int argc, char **argv)
{
    const char *log = "/dev/null";
    int first = 1, status = 0;
    struct rusage use;
    if (argc > 3 && strcmp(argv[1], "-o") == 0) {
        log = argv[2];
        first = 3;
    }
    bool warm = first < argc && strcmp(argv[first], "-w") == 0;
    first += warm;
    if (first >= argc) {
        fprintf(stderr, "usage: measure [-o FILE] [-w] COMMAND...\n");
        return 2;
    }
    if (warm) {
        warm_up();
    }
    double begun = now();
    pid_t pid = fork();
    if (pid == 0) {
        int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        if (fd >= 0) {
            dup2(fd, STDOUT_FILENO);
            execvp(argv[first], argv + first);
        }
        perror(argv[first]);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &use) != pid) {
        perror("measure");
        return 2;
    }
    printf("%.3f %.3f %.3f %.1f %d\n", now() - begun, seconds(use.ru_utime), seconds(use.ru_stime),
           (double)use.ru_maxrss / 1024, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return 0;
}

/* measure.c - measure [-o FILE] COMMAND...: one line of figures about a command, on standard output:
 *
 *     wall seconds, user and system CPU seconds, peak RSS in MiB, exit status
 *
 * RSS is that of the process (and its waited-for children, the largest), as the kernel counts it. The command's own
 * standard output goes to FILE (/dev/null). */
#include "clock.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double
seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
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
    if (first >= argc) {
        fprintf(stderr, "usage: measure [-o FILE] COMMAND...\n");
        return 2;
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

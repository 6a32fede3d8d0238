/* network.c - the tool does not speak to servers. */
#include <sys/socket.h>

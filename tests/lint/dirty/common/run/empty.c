/* empty.c - a room without a door plate. */

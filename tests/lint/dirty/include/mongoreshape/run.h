/* run.h - nothing. */

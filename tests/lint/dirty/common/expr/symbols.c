/* symbols.c - the same name as in common/doc. */
int mrsi_twice;

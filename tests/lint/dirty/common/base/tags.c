/* SPDX-License-Identifier: Apache-2.0 */
/* tags.c - a tag that another file has too. */
struct dirty_tag {
    int n;
};

/* SPDX-License-Identifier: Apache-2.0 */
/* version.h - the version, defined only here. */
#ifndef MONGORESHAPE_VERSION_H
#define MONGORESHAPE_VERSION_H
#define MRS_VERSION "0.1.0"
#endif

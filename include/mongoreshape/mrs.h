/* SPDX-License-Identifier: Apache-2.0 */
/* mrs.h - all public headers, in reading order.
 *
 * A plan (plan.h) is a list of steps (step.h); steps use documents (doc.h, value.h, path.h) and expressions (expr.h);
 * an engine moves documents through them: the offline one (run.h) over dumps (io.h), which can be printed (cat.h) and
 * compared (compare.h). Errors: err.h. Memory: mem.h. Limits: limits.h. */
#ifndef MONGORESHAPE_MRS_H
#define MONGORESHAPE_MRS_H

#include "mongoreshape/cat.h"
#include "mongoreshape/catalogue.h"
#include "mongoreshape/compare.h"
#include "mongoreshape/ejson.h"
#include "mongoreshape/expr.h"
#include "mongoreshape/fold_ops.h"
#include "mongoreshape/group_ops.h"
#include "mongoreshape/inverse.h"
#include "mongoreshape/io.h"
#include "mongoreshape/join_ops.h"
#include "mongoreshape/path.h"
#include "mongoreshape/plan.h"
#include "mongoreshape/pipeline.h"
#include "mongoreshape/run.h"
#include "mongoreshape/report_text.h"
#include "mongoreshape/spread_ops.h"
#include "mongoreshape/version.h"
#include "mongoreshape/window_ops.h"

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* index.d.ts - the types of `reshape` in mongosh. */

/** The name of a YAML or JSON file, or the plan itself. */
type Plan = string | { steps: object[]; plan?: string; database?: string; server?: string };

/** What each command takes; every other option of mongoreshape-live is passed on, --max-refused as maxRefused. */
interface Options {
    /** A run by the first digits of its id, instead of a plan. */
    run?: string;
    /** Do it; without it nothing of yours is written. */
    execute?: boolean;
    /** Database of collections for which the plan names none: the shell's, if left out. */
    db?: string;
    stateDb?: string;
    /** Another server than the shell's: a file whose first line is its URI. */
    uriFile?: string;
    [option: string]: string | number | boolean | Date | undefined;
}
/** How fast a run may go. */
interface Knobs {
    docs?: number;
    bytes?: number | string;
    /** Milliseconds between two batches. */
    sleep?: number;
    /** "5s", "1500ms"; 0: not watched. */
    maxLag?: number | string;
    maxLatency?: number | string;
    /** "connections.active=200"; "none". */
    maxLoad?: string;
    criticalLoad?: string;
    /** "22:00-06:00"; "all". */
    hours?: string;
}
interface ApplyOptions extends Options, Knobs {
    /** A file, or "127.0.0.1:9216". */
    metrics?: string;
    onSuccess?: string;
    onFailure?: string;
    mode?: 'expand' | 'direct';
    quietBy?: 'block' | 'validator' | 'word';
    engine?: 'client' | 'pipeline';
    /** Processes that do the first walk together, 16 at most. */
    workers?: number;
    maxRefused?: number | 'any';
    keepBefore?: boolean;
    /** With execute: does not wait for the end. */
    background?: boolean;
}
interface ThrottleOptions extends Options, Knobs {
}

/** What a command says; what is empty is left out. An exit status above 1 is thrown, as ReshapeError. */
interface Report {
    command: string;
    exitStatus: 0 | 1;
    planId?: string;
    mode?: 'expand' | 'direct' | 'quiet';
    run?: string;
    phase?: string;
    dryRun?: boolean;
    findings?: { refuses: boolean; text: string }[];
    estimate?: { documents: number; bytes: number; seconds: number };
    documents?: number;
    written?: number;
    refused?: number;
    differs?: number;
    named?: string[];
    said?: string[];
    /** What to call next. */
    next?: string;
}
interface Status {
    run: string;
    phase: string;
    at_work: boolean;
    doing?: string;
    ns?: string;
    done?: number;
    estimated?: number;
    percent?: number;
    refused: number;
    state_db: string;
    next?: string;
}
interface PipelineStep {
    step: number;
    type: string;
    /** Why it is no pipeline. */
    reason?: string;
    db?: string;
    coll?: string;
    /** What must find nothing before it may run: a filter, or a pipeline. */
    counts?: { db: string; coll: string; why: string; filter?: object; pipeline?: object[] }[];
    /** Pipelines that write, in this order. */
    writes?: { db: string; coll: string; pipeline: object[] }[];
    /** What goes in the end: what a filter finds, or whose `_id`s a pipeline gives. */
    removes?: { db: string; coll: string; filter?: object; pipeline?: object[] }[];
    /** Commands, in this order, where the step is no pipeline: an index, options, a name of a collection. */
    commands?: { db: string; command: object }[];
}
interface ReshapeError extends Error {
    exitStatus: number;
    report: object | null;
}

interface Reshape {
    check(plan: Plan, options?: object): Promise<object>;
    explain(plan: Plan, options?: { live?: boolean; stage?: boolean; json?: boolean }): Promise<string | object>;
    pipeline(plan: Plan): Promise<PipelineStep[]>;
    apply(plan: Plan, options?: ApplyOptions): Promise<Report>;
    verify(plan: Plan, options?: Options & { repair?: boolean }): Promise<Report>;
    contract(plan: Plan, options?: Options & { quietBy?: 'block' | 'validator' | 'word' }): Promise<Report>;
    rollback(plan: Plan, options?: Options & { discardNewWrites?: boolean }): Promise<Report>;
    abort(plan: Plan, options?: Options & { discardRefused?: boolean }): Promise<Report>;
    status(plan: Plan, options?: Options): Promise<Status>;
    watch(plan: Plan, options?: Options): Promise<Status>;
    pause(plan: Plan, options?: Options): Promise<Report>;
    resume(plan: Plan, options?: Options): Promise<Report>;
    throttle(plan: Plan, options?: ThrottleOptions): Promise<Report>;

    /** The same on a run: by { run: ID }, or the only one that there is. */
    apply(options: ApplyOptions): Promise<Report>;
    verify(options?: Options & { repair?: boolean }): Promise<Report>;
    contract(options?: Options & { quietBy?: 'block' | 'validator' | 'word' }): Promise<Report>;
    rollback(options?: Options & { discardNewWrites?: boolean }): Promise<Report>;
    abort(options?: Options & { discardRefused?: boolean }): Promise<Report>;
    status(options?: Options & { list?: boolean }): Promise<Status | { runs: Status[] }>;
    watch(options?: Options): Promise<Status>;
    pause(options?: Options): Promise<Report>;
    resume(options?: Options): Promise<Report>;
    throttle(options?: ThrottleOptions): Promise<Report>;

    /** All commands, or everything about one. */
    help(command?: string): Promise<string>;
}

/** What the module needs of the shell; load.js hands it over. */
interface Shell {
    db(): { getName(): string; getMongo(): { getURI(): string } };
    print(...words: unknown[]): void;
    EJSON: { parse(text: string): unknown; stringify(value: unknown, options?: object, space?: number): string };
}

declare function reshapeOf(shell: Shell): Reshape;
declare namespace reshapeOf {
    export { Plan, Options, ApplyOptions, ThrottleOptions, Report, Status, PipelineStep, ReshapeError, Reshape, Shell };
}
export = reshapeOf;

declare global {
    /** Defined by load.js. */
    const reshape: Reshape;
}

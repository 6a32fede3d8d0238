/* SPDX-License-Identifier: Apache-2.0 */
/* index.d.ts - the types of `reshape` in mongosh. */

/** The name of a YAML or JSON file, or the plan itself. */
type Plan = string | { steps: object[]; plan?: string; database?: string; server?: string };

/** Common options; every other option of mongoreshape-live is passed on, --max-refused as maxRefused. */
interface Options {
    /** A run by the first digits of its id, instead of a plan. */
    run?: string;
    /** Executes the command; without it no user data are written. */
    execute?: boolean;
    /** Database of collections for which the plan names none; default: the shell's. */
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
    /** Number of processes that share the first walk, at most 16. */
    workers?: number;
    maxRefused?: number | 'any';
    keepBefore?: boolean;
    /** With execute: does not wait for the end. */
    background?: boolean;
}
interface ThrottleOptions extends Options, Knobs {
}

/** The report of a command, without empty members. An exit status above 1 is thrown, as ReshapeError. */
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
    /** The next call. */
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
    /** Why the step is not possible as a pipeline. */
    reason?: string;
    db?: string;
    coll?: string;
    /** Must find nothing before the step may run: a filter, or a pipeline. */
    counts?: { db: string; coll: string; why: string; filter?: object; pipeline?: object[]; options: object }[];
    /** Pipelines that write, in this order. */
    writes?: { db: string; coll: string; pipeline: object[]; options: object }[];
    /** Documents to delete at the end: those of a filter, or with the `_id`s that a pipeline returns. */
    removes?: { db: string; coll: string; filter?: object; pipeline?: object[]; options: object }[];
    /** Commands, in this order, if the step is no pipeline: an index, options, a name of a collection. */
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

    /** The same for a run: by { run: ID }, or the only one. */
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

    /** The list of commands, or the help of one. */
    help(command?: string): Promise<string>;
}

/** The parts of the shell that the module needs; load.js passes them. */
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

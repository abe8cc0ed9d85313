/** How much is measured: what a figure needs to say something, less for a quick look, and next to nothing in the tests. */
export interface Sizes {
  /** Of the large and the small workspace. */
  readonly recordings: number;
  readonly smallRecordings: number;
  /** Of the long transcript. */
  readonly transcriptSegments: number;
  /** How often a recording is renamed, and a transcript is uploaded a tenth as often. */
  readonly writes: number;
  /** How often baseline and subject take turns. */
  readonly rounds: number;
  /** How often what is measured runs before it counts. */
  readonly warmUps: { readonly writes: number; readonly visits: number };
  /** How long a target is loaded before it counts, and while it counts. */
  readonly warmUpMs: number;
  readonly loadMs: number;
  /** How many empty data folders are started on, and how often each again. */
  readonly firstStarts: number;
  readonly laterStarts: number;
  /** Whether these begin with nothing compiled, as after an installation. */
  readonly hasNothingCompiled: boolean;
  /** How long a started server is left alone, and how long its idling is measured. */
  readonly settleMs: number;
  readonly idleMs: number;
  /** The file whose upload and download is measured. */
  readonly transferBytes: number;
  /** The files that are turned into recordings. */
  readonly availableSec: number;
  /** The audio that is transcribed, and the folder of the speech model; null: the tiny one of the tests. */
  readonly speech: { readonly seconds: number; readonly model: string | null };
  /** The GGUF file of the language model, null: the tiny one of the tests; its threads, and about how many tokens it reads and writes. */
  readonly language: {
    readonly model: string | null;
    readonly threads: number;
    readonly read: number;
    readonly write: number;
  };
  /** Recordings with ten action items each, in the large and the small workspace, those in which questions search, and how many questions. */
  readonly meetings: {
    readonly large: number;
    readonly small: number;
    readonly spoken: number;
    readonly questions: number;
  };
  readonly web: {
    /** Of the sample meetings, how many the library holds, and how many pages are visited. */
    readonly recordings: number;
    readonly pages: number;
    /** Of the recording whose page is opened on a slow processor. */
    readonly meetingSec: number;
    /** How many times slower that is than this machine's: a laptop of some years ago, or a phone. */
    readonly slowdown: number;
    /** The page is interactive after the last long task before such a pause. */
    readonly quietMs: number;
  };
  readonly hooks: {
    readonly events: number;
    readonly delays: number;
    /** Hooks that hang or refuse beside a healthy one, and how often its delay is measured. */
    readonly deadHooks: number;
    readonly deadSamples: number;
  };
  /** Recordings whose database is restored, and small files that are backed up. */
  readonly backup: { readonly recordings: number; readonly files: number };
  readonly searchHours: number;
  readonly searchSamples: number;
}

export const fullSizes: Sizes = {
  recordings: 1_000_000,
  smallRecordings: 10_000,
  transcriptSegments: 5000,
  writes: 200,
  rounds: 5,
  warmUps: { writes: 10, visits: 1 },
  warmUpMs: 1500,
  loadMs: 2500,
  firstStarts: 2,
  laterStarts: 2,
  hasNothingCompiled: true,
  settleMs: 5000,
  idleMs: 60_000,
  transferBytes: 2 ** 30,
  availableSec: 3600,
  speech: { seconds: 3600, model: null },
  language: { model: null, threads: 2, read: 400, write: 100 },
  meetings: { large: 100_000, small: 1000, spoken: 100_000, questions: 20 },
  web: { recordings: Number.POSITIVE_INFINITY, pages: 4, meetingSec: 7200, slowdown: 4, quietMs: 5000 },
  hooks: { events: 10_000, delays: 100, deadHooks: 100, deadSamples: 50 },
  backup: { recordings: 100_000, files: 1800 },
  searchHours: 1000,
  searchSamples: 100,
};

export const quickSizes: Sizes = {
  ...fullSizes,
  recordings: 50_000,
  rounds: 3,
  idleMs: 15_000,
  transferBytes: 2 ** 28,
  availableSec: 600,
  speech: { seconds: 600, model: null },
  meetings: { large: 10_000, small: 1000, spoken: 10_000, questions: 20 },
  hooks: { events: 3000, delays: 30, deadHooks: 100, deadSamples: 20 },
  backup: { recordings: 10_000, files: 1800 },
  searchHours: 100,
};

/** Enough to run every line; the figures mean nothing. */
export const testSizes: Sizes = {
  recordings: 1000,
  smallRecordings: 1000,
  transcriptSegments: 50,
  writes: 2,
  rounds: 1,
  warmUps: { writes: 1, visits: 0 },
  warmUpMs: 1,
  loadMs: 1,
  firstStarts: 1,
  laterStarts: 0,
  hasNothingCompiled: false,
  settleMs: 100,
  idleMs: 500,
  transferBytes: 2 ** 20,
  availableSec: 10,
  speech: { seconds: 10, model: null },
  language: { model: null, threads: 1, read: 20, write: 10 },
  meetings: { large: 100, small: 100, spoken: 100, questions: 1 },
  web: { recordings: 1, pages: 1, meetingSec: 12, slowdown: 1, quietMs: 500 },
  hooks: { events: 20, delays: 2, deadHooks: 2, deadSamples: 1 },
  backup: { recordings: 100, files: 20 },
  searchHours: 1,
  searchSamples: 1,
};

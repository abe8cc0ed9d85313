import type { ManyWorkspacesPlan } from "./data/many-workspaces.ts";

/** How much is measured: what a figure needs to say something, less for a quick look, and next to nothing in the tests. */
export interface Sizes {
  /** Of the large and the small workspace, and of the one whose events are sent. */
  readonly recordings: number;
  readonly smallRecordings: number;
  readonly hookRecordings: number;
  /** Of the long transcript. */
  readonly transcriptSegments: number;
  /** How often a recording is renamed, and a transcript is uploaded a tenth as often. */
  readonly writes: number;
  /** How often baseline and subject take turns. */
  readonly rounds: number;
  /** How long a target is loaded before it counts, and while it counts. */
  readonly warmUpMs: number;
  readonly loadMs: number;
  /** How many empty data folders are started on, how often each again, and how long a started server is left alone. */
  readonly firstStarts: number;
  readonly laterStarts: number;
  readonly idleMs: number;
  /** The file whose upload and download is measured. */
  readonly transferBytes: number;
  /** The files that are validated: an mp4 of this size, and an mp3. */
  readonly validatedBytes: number;
  readonly validatedSec: number;
  /** The files that are turned into recordings. */
  readonly availableSec: number;
  /** The audio that is transcribed, and the folder of the speech model; null: the tiny one of the tests. */
  readonly speech: { readonly seconds: number; readonly model: string | null };
  /** Of the sample meetings, how many the web app's library holds. */
  readonly libraryRecordings: number;
  /** Of the recording whose page is opened on a slow processor. */
  readonly meetingSec: number;
  readonly hooks: {
    readonly events: number;
    readonly delays: number;
    /** Hooks that receive the same event. */
    readonly listeners: number;
    /** Hooks that hang or refuse beside a healthy one, and how often its delay is measured. */
    readonly deadHooks: number;
    readonly deadSamples: number;
    readonly idleSec: number;
  };
  /** Recordings whose database is restored; files that are backed up, and their size. */
  readonly backup: {
    readonly recordings: number;
    readonly files: number;
    readonly fileBytes: number;
    readonly smallFiles: number;
  };
  /** Of the larger of two databases; the smaller one has a tenth of the workspaces. The first workspace is measured. */
  readonly manyWorkspaces: ManyWorkspacesPlan;
  readonly searchHours: number;
  readonly searchSamples: number;
  /** Hours of the meeting that is indexed. */
  readonly indexedHours: number;
}

export const fullSizes: Sizes = {
  recordings: 1_000_000,
  smallRecordings: 10_000,
  hookRecordings: 10_000,
  transcriptSegments: 5000,
  writes: 200,
  rounds: 5,
  warmUpMs: 1500,
  loadMs: 2500,
  firstStarts: 2,
  laterStarts: 2,
  idleMs: 5000,
  transferBytes: 2 ** 30,
  validatedBytes: 4 * 2 ** 30,
  validatedSec: 4 * 3600,
  availableSec: 3600,
  speech: { seconds: 3600, model: null },
  libraryRecordings: Number.POSITIVE_INFINITY,
  meetingSec: 7200,
  hooks: {
    events: 10_000,
    delays: 100,
    listeners: 100,
    deadHooks: 100,
    deadSamples: 50,
    idleSec: 60,
  },
  backup: { recordings: 100_000, files: 10_000, fileBytes: 2 ** 21, smallFiles: 1800 },
  manyWorkspaces: { workspaces: 1000, recordingsEach: 10_000, recordingsOfFirst: 60_000 },
  searchHours: 1000,
  searchSamples: 100,
  indexedHours: 4,
};

export const quickSizes: Sizes = {
  ...fullSizes,
  recordings: 50_000,
  rounds: 3,
  transferBytes: 2 ** 28,
  validatedBytes: 2 ** 28,
  availableSec: 600,
  speech: { seconds: 600, model: null },
  hooks: {
    ...fullSizes.hooks,
    events: 3000,
    delays: 30,
    deadSamples: 20,
    idleSec: 15,
  },
  backup: { recordings: 10_000, files: 10_000, fileBytes: 2 ** 17, smallFiles: 1800 },
  manyWorkspaces: { workspaces: 100, recordingsEach: 500, recordingsOfFirst: 5000 },
  searchHours: 100,
};

/** Enough to run every line; the figures mean nothing. */
export const testSizes: Sizes = {
  recordings: 2000,
  smallRecordings: 1000,
  hookRecordings: 1000,
  transcriptSegments: 50,
  writes: 10,
  rounds: 1,
  warmUpMs: 20,
  loadMs: 50,
  firstStarts: 1,
  laterStarts: 1,
  idleMs: 100,
  transferBytes: 2 ** 20,
  validatedBytes: 2 ** 20,
  validatedSec: 20,
  availableSec: 12,
  speech: { seconds: 22, model: null },
  libraryRecordings: 2,
  meetingSec: 20,
  hooks: {
    events: 20,
    delays: 2,
    listeners: 2,
    deadHooks: 2,
    deadSamples: 2,
    idleSec: 1,
  },
  backup: { recordings: 1000, files: 20, fileBytes: 2 ** 14, smallFiles: 20 },
  manyWorkspaces: { workspaces: 10, recordingsEach: 20, recordingsOfFirst: 1000 },
  searchHours: 1,
  searchSamples: 1,
  indexedHours: 1,
};

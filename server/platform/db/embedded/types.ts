import type { SystemUser } from "./system-user.ts";

/** Where the parts of the embedded PostgreSQL report what they do; the caller turns it into log lines. */
export type Log = (
  level: "info" | "warn" | "error",
  message: string,
  detail?: Record<string, unknown>,
) => void;

/** Exactly what a `pg` client or pool needs. `host` is the folder of the Unix socket. */
export interface Connection {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/** What only tests and throwaway clusters change: see `productionTuning`. */
export interface Tuning {
  /** PostgreSQL settings given on its command line, such as `fsync: "off"`. */
  readonly settings: Readonly<Record<string, string>>;
  /** Home of staged binaries and of clusters that cannot live in the data folder (root only). */
  readonly systemDir: string;
  /** How long a postmaster that gives no sign of progress is waited for. */
  readonly readyTimeoutMs: number;
}

/** Where everything of one data folder is. Paths are real paths (no symbolic links). */
export interface Location {
  readonly dataDir: string;
  readonly clusterDir: string;
  /** The unprivileged user PostgreSQL runs as; undefined means: as ourselves. */
  readonly user: SystemUser | undefined;
  /** Set when the cluster is not in the data folder: the file that remembers where it is. */
  readonly pointerFile: string | undefined;
}

/** What the steps of a start share. */
export interface Context {
  readonly dataDir: string;
  readonly purpose: "server" | "tool";
  readonly log: Log;
  readonly tuning: Tuning;
  /** Aborted by stop(): every wait ends at once. */
  readonly signal: AbortSignal;
}

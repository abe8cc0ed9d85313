/** What a read must see, as the primary says. */
export interface Requirement {
  /** Identity of the database (cluster.ts). */
  readonly identity: string;
  /** Position of the write-ahead log. */
  readonly now: string;
  /** Its position after the reader's last change; null: there was none lately. */
  readonly own: string | null;
  /** The transaction of the last event of the reader's workspace; null: there is none. */
  readonly transaction: string | null;
}

/** How far a replica is. */
export interface Replayed {
  /** Identity of the database (cluster.ts). */
  readonly identity: string;
  /** Position in the write-ahead log; null: the server is no replica. */
  readonly position: string | null;
  /** Of pg_current_snapshot(): `xmin:xmax:xip,…`. */
  readonly snapshot: string;
}

/**
 * Whether a replica shows what is required.
 * @param bound a position that it must have reached.
 * @throws Error if the server is not a replica of this database: positions of another one mean nothing.
 */
export function holds(replayed: Replayed, required: Requirement, bound: string): boolean {
  if (replayed.identity !== required.identity)
    throw new Error(
      "PARLEY_DATABASE_REPLICA_URL leads to a server or database that is not a replica of PARLEY_DATABASE_URL; correct it or unset it",
    );
  if (replayed.position === null)
    throw new Error(
      "the server at PARLEY_DATABASE_REPLICA_URL is not a replica (any more); correct or unset it",
    );
  const position = parsePosition(replayed.position);
  return (
    position >= parsePosition(bound) &&
    (required.own === null || position >= parsePosition(required.own)) &&
    (required.transaction === null || isVisible(BigInt(required.transaction), replayed.snapshot))
  );
}

/** A position such as `16/B374D848`, as a number. */
function parsePosition(text: string): bigint {
  const [high = "", low = ""] = text.split("/");
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}

/** Whether a committed transaction is visible in a snapshot, as pg_visible_in_snapshot() says. */
function isVisible(transaction: bigint, snapshot: string): boolean {
  const [xmin = "", xmax = "", open = ""] = snapshot.split(":");
  if (transaction < BigInt(xmin)) return true;
  return transaction < BigInt(xmax) && !open.split(",").includes(String(transaction));
}

/** How far a replica may be behind. */
const maxLagMs = 10_000;

interface Sample {
  readonly position: string;
  readonly at: number;
}

/** Bounds how far a replica may be behind: it must have what the primary had at most twenty seconds ago. */
export class StalenessBound {
  #older: Sample | null = null;
  #newer: Sample | null = null;

  /**
   * @param now position of the primary.
   * @param at in ms.
   * @returns the position that a replica must have reached: the present one where no earlier one is known.
   */
  next(now: string, at: number): string {
    if (this.#newer === null || at - this.#newer.at >= maxLagMs) {
      this.#older = this.#newer;
      this.#newer = { position: now, at };
    }
    const known = [this.#older, this.#newer].find(
      (sample) => sample !== null && at - sample.at <= 2 * maxLagMs,
    );
    return known?.position ?? now;
  }
}

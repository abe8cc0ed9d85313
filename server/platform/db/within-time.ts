import pg from "pg";
import type { Queryable } from "./replica.ts";

/** Settings of a transaction, by name. */
type Settings = Readonly<Record<string, string>>;

/**
 * Runs reads of one moment that may take only so long together: PostgreSQL cancels a statement that would exceed the limit.
 * The wait for a connection counts, but is not cut short.
 * @param source the pool, or a connection that nothing else uses meanwhile.
 */
export async function readWithinTime<T>(
  source: Queryable,
  limitMs: number,
  read: (source: Queryable) => Promise<T>,
  settings: Settings = {},
): Promise<T> {
  const endsAt = performance.now() + limitMs;
  if (!(source instanceof pg.Pool)) return readUntil(source, endsAt, settings, read);
  const client = await source.connect();
  let broken: Error | undefined;
  try {
    return await readUntil(client, endsAt, settings, read, (error) => {
      broken = error;
    });
  } finally {
    client.release(broken);
  }
}

async function readUntil<T>(
  source: Queryable,
  endsAt: number,
  settings: Settings,
  read: (source: Queryable) => Promise<T>,
  onBroken: (error: Error) => void = () => {},
): Promise<T> {
  const leftMs = (): number => {
    const left = Math.ceil(endsAt - performance.now());
    if (left <= 0) throw new Error("the reads reached their time limit");
    return left;
  };
  // Settings of a transaction end with it, also behind a connection pooler.
  const texts = Object.entries({ ...settings, statement_timeout: String(leftMs()) }).map(
    ([name, value]) => `set local ${pg.escapeIdentifier(name)} = ${pg.escapeLiteral(value)}`,
  );
  let isFirst = true;
  const query: Queryable["query"] = async <Row extends pg.QueryResultRow>(
    statement: string | pg.QueryConfig,
    values?: unknown[],
  ) => {
    if (!isFirst) await source.query("select set_config('statement_timeout', $1, true)", [String(leftMs())]);
    isFirst = false;
    return source.query<Row>(statement, values);
  };
  try {
    await source.query(["begin isolation level repeatable read read only", ...texts].join("; "));
    const result = await read({ query });
    await source.query("commit");
    return result;
  } catch (error) {
    await source.query("rollback").catch(onBroken);
    throw error;
  }
}

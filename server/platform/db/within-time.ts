import pg from "pg";
import type { Queryable } from "./replica.ts";

/**
 * Runs reads of one moment that may take only so long together: PostgreSQL cancels a statement that would exceed the limit.
 * The wait for a connection counts, but is not cut short.
 * @param source the pool, or a connection that nothing else uses meanwhile.
 */
export async function readWithinTime<T>(
  source: Queryable,
  limitMs: number,
  read: (source: Queryable) => Promise<T>,
): Promise<T> {
  const endsAt = performance.now() + limitMs;
  if (!(source instanceof pg.Pool)) return readUntil(source, endsAt, read);
  const client = await source.connect();
  let broken: Error | undefined;
  try {
    return await readUntil(client, endsAt, read, (error) => {
      broken = error;
    });
  } finally {
    client.release(broken);
  }
}

async function readUntil<T>(
  source: Queryable,
  endsAt: number,
  read: (source: Queryable) => Promise<T>,
  onBroken: (error: Error) => void = () => {},
): Promise<T> {
  // The limit of a transaction's statements ends with it, also behind a connection pooler.
  await source.query("begin isolation level repeatable read read only");
  const query = async (...values: unknown[]): Promise<unknown> => {
    const leftMs = Math.ceil(endsAt - performance.now());
    if (leftMs <= 0) throw new Error("the reads reached their time limit");
    await source.query("select set_config('statement_timeout', $1, true)", [String(leftMs)]);
    return (source.query as (...given: unknown[]) => Promise<unknown>).apply(source, values);
  };
  try {
    const result = await read({ query } as unknown as Queryable);
    await source.query("commit");
    return result;
  } catch (error) {
    await source.query("rollback").catch(onBroken);
    throw error;
  }
}

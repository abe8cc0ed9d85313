import { createHash } from "node:crypto";
import pg from "pg";

/** PostgreSQL's code for a change on a standby, which a primary becomes when another server has taken its role. */
export const readOnlyDatabase = "25006";

/**
 * A connection that ends when a statement gets no response within `query_timeout`: the server is gone without a word, and
 * the next statement would wait behind this one.
 */
export class TimedClient extends pg.Client {
  // biome-ignore lint/suspicious/noExplicitAny: passes on every form of `query`.
  override query(...given: any[]): any {
    const query = super.query as (...values: unknown[]) => unknown;
    const result = query.apply(this, given);
    // The pool itself ends connections on which statements with a callback fail.
    if (result instanceof Promise)
      result.catch((error: Error) => {
        if (error.message === "Query read timeout") void this.end();
      });
    return result;
  }
}

/** Marks texts to prepare (prepared.ts), because Kysely can't name statements. */
export const preparedMark = " /* prepared */";

/** The names of prepared texts: as many as the code has. */
const names = new Map<string, string>();

/** A connection that prepares the statements that ask for it. */
export class PreparingClient extends TimedClient {
  // biome-ignore lint/suspicious/noExplicitAny: passes on every form of `query`.
  override query(...[first, ...rest]: any[]): any {
    if (typeof first !== "string" || !first.endsWith(preparedMark)) return super.query(first, ...rest);
    let name = names.get(first);
    if (name === undefined) {
      // PostgreSQL cuts names after 63 characters.
      name = createHash("sha256").update(first).digest("base64url");
      names.set(first, name);
    }
    const [values, ...others] = rest;
    return super.query({ name, text: first, values }, ...others);
  }
}

/**
 * A connection to a pooler in transaction mode. Each statement may run in another session of the server, which does not know
 * the statements prepared in the one before, so none is prepared by name.
 */
export class UnnamedClient extends TimedClient {
  // biome-ignore lint/suspicious/noExplicitAny: passes on every form of `query`.
  override query(...[first, ...rest]: any[]): any {
    return super.query(isNamed(first) ? { ...first, name: undefined } : first, ...rest);
  }
}

/** A plain statement with a name; cursors and streams, which have `submit`, are passed on as they are. */
function isNamed(value: unknown): value is { readonly name: string } {
  return typeof value === "object" && value !== null && "name" in value && !("submit" in value);
}

/** @throws an error that counts as a lost connection if a new connection leads to a standby, so that the pool drops it. */
export async function checkPrimary(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ standby: boolean }>("select pg_is_in_recovery() as standby");
  if (rows[0]?.standby !== false)
    throw Object.assign(new Error("the database is a standby and refuses changes"), {
      code: readOnlyDatabase,
    });
}

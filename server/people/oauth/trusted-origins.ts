import type { Database } from "../../platform/db/database.ts";
import { isTrustedOrigin } from "./clients/queries.ts";

/** The origins whose pages may call this server with a token. */
export interface TrustedOrigins {
  has(origin: string): Promise<boolean>;
}

/** A page may call the server until its origin is looked up again. */
const trustedMs = 60_000;
/** Short, because a user may be authorizing the app right now. */
const untrustedMs = 5000;
const maxEntries = 1000;

/** Looks origins up in the database and caches the results, because every request of a page names its origin. */
export function createTrustedOrigins(db: Database): TrustedOrigins {
  const known = new Map<string, { readonly isTrusted: Promise<boolean>; until: number }>();

  function lookUp(origin: string): Promise<boolean> {
    const isTrusted = isTrustedOrigin(db.kysely, origin);
    const entry = { isTrusted, until: Date.now() + untrustedMs };
    // The oldest goes first: pages that are in use are looked up again soon.
    if (known.size >= maxEntries) known.delete(known.keys().next().value ?? "");
    known.delete(origin);
    known.set(origin, entry);
    isTrusted.then(
      (is) => {
        if (is) entry.until = Date.now() + trustedMs;
      },
      () => known.delete(origin),
    );
    return isTrusted;
  }

  return {
    async has(origin) {
      const entry = known.get(origin);
      return entry !== undefined && entry.until > Date.now() ? entry.isTrusted : lookUp(origin);
    },
  };
}

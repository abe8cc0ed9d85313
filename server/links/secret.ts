import { randomBytes } from "node:crypto";
import { text } from "node:stream/consumers";
import { ObjectExistsError, type ObjectStore } from "../storage/store.ts";

/** Where a secret that nobody has set is kept: with the files, which every process of an installation shares. */
const key = "parley/secret";

/**
 * The key for signed links: the one that is set, or one made at the first start. Of several processes that start at
 * once, one makes it and all use it.
 */
export async function openSecret(set: string | null, store: ObjectStore): Promise<string> {
  if (set !== null) return set;
  if ((await store.head(key)) === null) {
    const made = Buffer.from(randomBytes(32).toString("base64url"));
    await store.put(key, made, { ifAbsent: true, contentLength: made.length }).catch((error: Error) => {
      if (!(error instanceof ObjectExistsError)) throw error;
    });
  }
  return text((await store.get(key)).body);
}

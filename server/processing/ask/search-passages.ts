import type { Principal } from "../../platform/auth/principal.ts";
import type { Database } from "../../platform/db/database.ts";
import { cutPassages, type FoundPassage, findPassages } from "../../recordings/search/passages.ts";
import type { Filter } from "./filters.ts";
import { findLines } from "./queries.ts";

/** Passages that a question about many meetings reads at most. */
const maxPassages = 40;

/** The best passages of each search in turn, without repetition. */
export async function searchPassages(
  db: Database,
  principal: Principal,
  searches: readonly string[],
  filter: Filter,
): Promise<FoundPassage[]> {
  const lists = await Promise.all(
    searches.map((text) => findPassages(db.pool, principal, text, filter, maxPassages)),
  );
  const found = new Map<string, FoundPassage>();
  for (let place = 0; place < maxPassages; place += 1)
    for (const list of lists) {
      const passage = list[place];
      if (passage === undefined) continue;
      const [first] = passage.lines;
      const key = `${passage.recordingId} ${first?.position} ${first?.text}`;
      if (!found.has(key)) found.set(key, passage);
    }
  return [...found.values()].slice(0, maxPassages);
}

/** A whole transcript in passages. */
export async function readWhole(db: Database, recordingId: string): Promise<FoundPassage[]> {
  return cutPassages(await findLines(db.pool, recordingId)).map((lines) => ({ recordingId, lines }));
}

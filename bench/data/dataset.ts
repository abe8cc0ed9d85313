import { createUser } from "../../server/people/accounts/service.ts";
import type { Database } from "../../server/platform/db/database.ts";
import type { BenchDatabase, BenchPostgres } from "../database.ts";
import { elapsed } from "../report.ts";
import type { Sizes } from "../sizes.ts";
import { generate, type WorkspacePlan } from "./generate.ts";
import { checkGrants } from "./grants.ts";
import { type MadeUser, makePersonalToken, makeUser, makeWorkspace } from "./people.ts";
import { insertMeeting, longSentence } from "./spoken.ts";
import { firstNames } from "./words.ts";

/** What the figures need to know of a filled database. */
export interface Dataset {
  readonly recordings: number;
  readonly workspaceId: string;
  readonly adminId: string;
  readonly workspaceToken: string;
  /** Of a user with a user's share of everything. */
  readonly memberToken: string;
  /** Of a user who sees exactly a hundred recordings. */
  readonly guestToken: string;
  /** A recording of four hours. */
  readonly transcriptId: string;
  /** Of workspaces without recordings, for uploaded files and the pages of the web app. */
  readonly users: { readonly files: MadeUser; readonly library: MadeUser; readonly long: MadeUser };
}

/** Changes with the generator, so that kept databases are created again. */
const recipeVersion = 2;

/**
 * A database with a workspace of so many recordings. A second workspace shares nothing with everybody, so one user there
 * sees a hundred recordings. It has a twentieth of the recordings, or a thousand if that is more and the first has as many.
 */
export function dataset(
  postgres: BenchPostgres,
  name: string,
  recordings: number,
  { transcriptSegments }: Sizes,
): Promise<BenchDatabase<Dataset>> {
  return postgres.database(
    name,
    `${recipeVersion}:${recordings}:${transcriptSegments}`,
    async (db, connection) => {
      const startedAt = performance.now();
      const say = (text: string): void => console.error(`  ${elapsed(startedAt)}  ${name}: ${text}`);
      const main = await makeWorkspace(db, "Northwind", "northwind.example");
      const quiet = await makeWorkspace(db, "Quiet", "quiet.example");
      const guestEmail = "guest@quiet.example";
      await db.kysely
        .transaction()
        .execute((tx) =>
          createUser(tx, { workspaceId: quiet.id, email: guestEmail, name: "Guest", role: "member" }),
        );
      const plans: WorkspacePlan[] = [
        {
          id: main.id,
          domain: "northwind.example",
          recordings,
          users: 1000,
          teams: 50,
          sharedPercent: 10,
          rare: 5,
          guestEmail: null,
        },
        {
          id: quiet.id,
          domain: "quiet.example",
          recordings: Math.max(Math.min(1000, recordings), Math.floor(recordings / 20 / 100) * 100),
          users: 100,
          teams: 5,
          sharedPercent: 0,
          rare: 0,
          guestEmail,
        },
      ];
      await generate(connection, plans, say);
      await addEmptyTeams(db, quiet.id, guestEmail);
      await checkGrants(db);
      const made: Dataset = {
        recordings,
        workspaceId: main.id,
        adminId: main.adminId,
        workspaceToken: main.workspaceToken,
        memberToken: await makePersonalToken(db, "user7@northwind.example"),
        guestToken: await makePersonalToken(db, guestEmail),
        transcriptId: await insertMeeting(db, main.id, {
          title: "Four hours",
          start: new Date("2026-02-01T09:00:00Z"),
          hours: 4,
          speakers: firstNames.slice(0, 4),
          segments: Array.from({ length: transcriptSegments }, (_, n) => longSentence(n)),
        }),
        users: {
          files: await makeUser(db, "Files", "files.example"),
          library: await makeUser(db, "Library", "library.example"),
          long: await makeUser(db, "Long", "long.example"),
        },
      };
      say("done");
      return made;
    },
  );
}

/** Two teams, as everybody has, so that the guest's list is merged from as many streams; they add nothing. */
async function addEmptyTeams(db: Database, workspaceId: string, email: string): Promise<void> {
  await db.pool.query(
    `with made as (
       insert into teams (id, workspace_id, name)
       select uuidv7(), $1, name from unnest(array['Empty one', 'Empty two']) name returning id)
     insert into team_members (team_id, user_id) select made.id, u.id from made, users u where u.email = $2`,
    [workspaceId, email],
  );
}

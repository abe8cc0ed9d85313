import { Command, InvalidArgumentError } from "commander";
import { createAccessToken } from "../server/accounts/service.ts";
import type { Config } from "../server/config.ts";
import type { Database } from "../server/db/database.ts";
import { openJobQueue } from "../server/jobs/queue.ts";
import { openStore } from "../server/storage/open.ts";
import { fillDemo } from "./demo/fill.ts";
import { demoMeetings } from "./demo/meetings/index.ts";
import { demoWorkspace } from "./demo/workspace.ts";
import { printValue, withDatabase } from "./with-database.ts";

export function demoCommand(): Command {
  return new Command("demo")
    .description(
      "make a sample workspace with people, teams and meetings to watch (a minute's work); prints its id",
    )
    .option("--minutes <n>", "only the first minutes of each meeting, for who can't wait", toMinutes)
    .option("--json", "print a JSON object")
    .action((options: { json?: boolean; minutes?: number }) =>
      withDatabase(async (db, config) => {
        const start = performance.now();
        const { id, isNew, password } = await make(db, config, options.minutes ?? null);
        const seconds = Math.round((performance.now() - start) / 1000);
        console.error(
          isNew
            ? await describeDemo(db, config, password, seconds)
            : `the sample workspace ${demoWorkspace.name} is there already`,
        );
        printValue(
          id,
          { id, name: demoWorkspace.name, meetings: demoMeetings.length, created: isNew },
          options,
        );
      }),
    );
}

function toMinutes(text: string): number {
  const minutes = Number(text);
  // The shortest recording that is taken lasts ten seconds.
  if (!(minutes >= 0.5)) throw new InvalidArgumentError("a number of minutes, at least 0.5");
  return minutes;
}

async function make(db: Database, config: Config, minutes: number | null) {
  const store = await openStore(config);
  const jobs = await openJobQueue({
    pool: db.pool,
    // A run that was ended while it worked left jobs behind; without a server nobody else looks after them.
    supervise: true,
    onError: (error) => console.error(`parley: ${error.message}`),
  });
  try {
    return await fillDemo(
      { db, jobs, store, config },
      {
        minutes,
        onProgress: (done, all, { title }) =>
          console.error(`${String(done).padStart(2)} of ${all}  ${title}`),
      },
    );
  } finally {
    await jobs.close();
    await store.close();
  }
}

/** What to do with it, with a token good for a day. */
async function describeDemo(
  db: Database,
  config: Config,
  password: string | null,
  seconds: number,
): Promise<string> {
  const admin = demoWorkspace.people.find((person) => person.role === "admin");
  if (!admin) throw new Error("the sample workspace has no admin");
  const { token } = await db.kysely.transaction().execute((tx) =>
    createAccessToken(tx, {
      email: admin.email,
      type: "workspace_access_token",
      name: "sample",
      expiresAt: new Date(Date.now() + 86_400_000),
    }),
  );
  return [
    "",
    `made the sample workspace ${demoWorkspace.name} in ${seconds} s: ${demoWorkspace.people.length} people, ${demoMeetings.length} meetings`,
    "",
    ...(password === null
      ? []
      : [
          `  Sign in at  ${config.baseUrl}/sign-in`,
          `    email     ${admin.email}`,
          `    password  ${password}  (shown only now)`,
          "",
        ]),
    "  Or ask the API while the server runs (the token is good for a day):",
    `  curl -s -X POST ${config.baseUrl}/_/public-api/v2/recordings -H 'Authorization: Bearer ${token}' -H 'Public-Api-Version: 2026-10-01'`,
    "",
  ].join("\n");
}

import { type Command, InvalidArgumentError } from "commander";
import { demoMeetings } from "../demo/content/meetings/index.ts";
import { demoWorkspace } from "../demo/content/workspace.ts";
import { fillDemo } from "../demo/fill.ts";
import { jobKinds } from "../server/jobs.ts";
import { createAccessToken } from "../server/people/accounts/service.ts";
import type { Config } from "../server/platform/config/config.ts";
import type { Database } from "../server/platform/db/database.ts";
import { openJobQueue } from "../server/platform/jobs/queue.ts";
import type { ObjectStore } from "../server/platform/storage/store.ts";
import { writeSecretFile } from "./support/secret-file.ts";
import { printValue } from "./support/with-database.ts";
import { withStore } from "./support/with-store.ts";

export function demoCommand(command: Command): Command {
  return command
    .option("--minutes <n>", "import only the first minutes of each meeting, which is faster", toMinutes)
    .option("--json", "print the result as a JSON object")
    .action((options: { json?: boolean; minutes?: number }) =>
      withStore(async (db, store, config) => {
        const start = performance.now();
        const { id, isNew, password } = await createDemo(db, store, config, options.minutes ?? null);
        const seconds = Math.round((performance.now() - start) / 1000);
        console.error(
          isNew
            ? await describeDemo(db, config, password, seconds)
            : `the sample workspace ${demoWorkspace.name} exists already`,
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
  if (!(minutes >= 0.5)) throw new InvalidArgumentError("must be a number of minutes, at least 0.5");
  return minutes;
}

async function createDemo(db: Database, store: ObjectStore, config: Config, minutes: number | null) {
  // Without a server, this process also runs the jobs that an interrupted run left behind.
  return fillDemo(
    { db, jobs: openJobQueue(jobKinds), store, config },
    {
      minutes,
      onProgress: (done, total, { title }) =>
        console.error(`${String(done).padStart(2)} of ${total}  ${title}`),
    },
  );
}

/** How to sign in and call the API, with a token that expires in a day. */
async function describeDemo(
  db: Database,
  config: Config,
  password: string | null,
  seconds: number,
): Promise<string> {
  const admin = demoWorkspace.users.find((user) => user.role === "admin");
  if (!admin) throw new Error("the sample workspace has no admin");
  const { token } = await db.kysely.transaction().execute((tx) =>
    createAccessToken(tx, {
      email: admin.email,
      type: "personal_access_token",
      name: "sample",
      expiresAt: new Date(Date.now() + 86_400_000),
    }),
  );
  const summary = `created the sample workspace ${demoWorkspace.name} in ${seconds} s: ${demoWorkspace.users.length} users, ${demoMeetings.length} meetings`;
  const secrets = [
    ...(password === null
      ? []
      : [
          `  Sign in at  ${config.baseUrl}/sign-in`,
          `    email     ${admin.email}`,
          `    password  ${password}  (not shown again)`,
          "    The other users of the workspace have the same password.",
          "",
        ]),
    `  Or call the API as ${admin.name} while the server runs (the token expires in a day):`,
    `  curl -s -X POST ${config.baseUrl}/_/public-api/v2/recordings -H 'Authorization: Bearer ${token}' -H 'Public-Api-Version: 2026-10-01'`,
    "",
  ].join("\n");
  const file = await writeSecretFile(process.stderr, config.dataDir, "demo-sign-in.txt", secrets);
  return `\n${summary}\n\n${file === null ? secrets : `  The sign-in details are in ${file}, readable only by the current system user.\n`}`;
}

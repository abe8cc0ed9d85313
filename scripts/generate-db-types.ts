import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { startEmbeddedPostgres } from "../server/platform/db/embedded/index.ts";
import { migrate } from "../server/platform/db/migrate.ts";

/**
 * Writes server/platform/db/types.ts from a freshly migrated database (`npm run db:types`), or prints it (`--print`). With
 * DATABASE_URL the database there is read instead; it has to be migrated.
 */

/** Columns whose type says more than the database does: JSON, and words of the contract. */
const columnTypes: Readonly<Record<string, string>> = {
  "calendar_events.attendees": "Generated<JsonColumn<readonly Invited[]>>",
  "calendar_events.organizer": "JsonColumn<CalendarPerson> | null",
  "calendars.unread_examples": "Generated<JsonColumn<readonly UnreadEvent[]>>",
  "events.data": "JsonColumn<Record<string, unknown>>",
  "hooks.hook_type": 'HookType | "delivery"',
  "hooks.include": "JsonColumn<Record<string, unknown>>",
  "hooks.version": "VersionName",
  "import_items.omitted": "Generated<JsonColumn<Record<string, number>>>",
  "import_runs.counts": "Generated<JsonColumn<Record<string, number>>>",
  "recording_meetings.applied_event": "JsonColumn<CalendarEventTimes> | null",
  "recording_meetings.previous_event": "JsonColumn<CalendarEventTimes> | null",
  "recording_media.ends_early": "JsonColumn<EndsEarly> | null",
  "transcript_edits.changes": "JsonColumn<TranscriptChanges>",
  "transcript_edits.details": "JsonColumn<TranscriptEditDetails>",
  "upload_transcripts.segments": 'JsonColumn<TranscriptInput["segments"]>',
  "uploads.facts": "JsonColumn<MediaFacts> | null",
  "uploads.failure_causes": "JsonColumn<readonly Cause[]> | null",
  "uploads.import_data": "JsonColumn<ImportData> | null",
  "uploads.participants": "Generated<JsonColumn<readonly UploadParticipant[]>>",
  "uploads.transcript_info": "JsonColumn<TranscriptInfo> | null",
  "workspaces.security_rules": "JsonColumn<StoredRules> | null",
};

/** Where the names in `columnTypes` come from. The generator finds imports only with the JavaScript API of TypeScript 5. */
const imports = `import type { Cause } from "../../../contract/causes/causes.ts";
import type { HookType } from "../../../contract/webhooks/hook-types.ts";
import type { TranscriptEditDetails } from "../../../contract/transcripts/transcript-history.ts";
import type { TranscriptInput } from "../../../contract/uploads/uploads.ts";
import type { VersionName } from "../../../contract/versions.ts";
import type {
  CalendarEventTimes,
  CalendarPerson,
  EndsEarly,
  ImportData,
  Invited,
  JsonColumn,
  MediaFacts,
  StoredRules,
  TranscriptChanges,
  TranscriptInfo,
  UnreadEvent,
  UploadParticipant,
} from "./json-columns.ts";
`;

const url = process.env.DATABASE_URL;
const types = url === undefined ? await generateFresh() : await generate(url);
if (process.argv.includes("--print")) process.stdout.write(types);
else writeFileSync(fileURLToPath(new URL("../server/platform/db/types.ts", import.meta.url)), types);

async function generateFresh(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "parley-types-"));
  const postgres = await startEmbeddedPostgres({ dataDir: folder, purpose: "server", log: () => {} });
  try {
    await migrate(postgres.connection);
    const { host, port, user, password, database } = postgres.connection;
    return await generate(
      `postgres://${user}:${encodeURIComponent(password)}@/${database}?host=${encodeURIComponent(host)}&port=${port}`,
    );
  } finally {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function generate(url: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "parley-types-"));
  const file = join(folder, "types.ts");
  const program = fileURLToPath(new URL("../node_modules/.bin/kysely-codegen", import.meta.url));
  const columns = { ...(await readUnions(url)), ...columnTypes };
  try {
    await promisify(execFile)(process.execPath, [
      program,
      "--dialect=postgres",
      "--date-parser=timestamp",
      "--default-schema=public",
      "--exclude-pattern=schema_migrations",
      `--overrides=${JSON.stringify({ columns })}`,
      `--url=${url}`,
      `--out-file=${file}`,
    ]);
    return readFileSync(file, "utf8").replace(/^(?=import )/m, imports);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The types of columns that a check constraint limits to a list of words, such as `"admin" | "member" | "viewer"`. */
async function readUnions(url: string): Promise<Record<string, string>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{
      name: string;
      words: string[];
      is_required: boolean;
      has_default: boolean;
    }>(
      `select t.relname || '.' || a.attname as name, a.attnotnull as is_required, a.atthasdef as has_default,
         array(select m[1] from regexp_matches(pg_get_constraintdef(c.oid), '''([^'']+)''::text', 'g') m) as words
       from pg_constraint c
         join pg_class t on t.oid = c.conrelid
         join pg_attribute a on a.attrelid = t.oid and c.conkey = array[a.attnum]
       where c.contype = 'c' and c.connamespace = 'public'::regnamespace
         and pg_get_constraintdef(c.oid) ~ '^CHECK \\(\\(\\w+ = ANY \\(ARRAY\\[[^]]+\\]\\)\\)\\)$'
       order by 1`,
    );
    return Object.fromEntries(
      rows.map(({ name, words, is_required, has_default }) => {
        const union = [...words.map((word) => JSON.stringify(word)), ...(is_required ? [] : ["null"])].join(
          " | ",
        );
        return [name, has_default ? `Generated<${union}>` : union];
      }),
    );
  } finally {
    await client.end();
  }
}

import type pg from "pg";
import type { HookType } from "../../contract/hooks.ts";
import type { RecordingIncludeInput } from "../../contract/recordings.ts";
import type { UploadIncludeInput } from "../../contract/uploads.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { findHighlightJson } from "../highlights/queries.ts";
import type { LinkSigner } from "../links/signer.ts";
import { thumbnailLinks } from "../recordings/links.ts";
import { findRecordingsForEvent } from "../recordings/queries.ts";
import { findStoryJson } from "../stories/queries.ts";
import { presentAttributes } from "../uploads/present.ts";
import { findUploadsById, findUploadTranscripts } from "../uploads/queries.ts";
import type { DueDelivery } from "./due-queries.ts";
import type { HookRow } from "./queries.ts";

export interface PayloadDependencies {
  readonly db: Database;
  readonly signer: LinkSigner;
  readonly config: Pick<Config, "baseUrl">;
}

/** What of a hook decides how it is told. */
export type Teller = Pick<HookRow, "hook_type" | "include" | "scope" | "created_by" | "workspace_id">;

/** What of a delivery decides what is told. */
export type Told = Pick<DueDelivery, "id" | "event_type" | "subject_id" | "data">;

/**
 * What is sent for deliveries of one hook. Source: contract.md, Events: `type`, `user_id`, `data`. Statuses and what was
 * deleted are told as they were at the event; the rest as it is now.
 * @returns the body by delivery id; null where the subject is not there any more, so that nothing can be told.
 */
export async function renderPayloads(
  deps: PayloadDependencies,
  hook: Teller,
  deliveries: readonly Told[],
): Promise<Map<string, string | null>> {
  const data = await findData(deps, hook, deliveries);
  return new Map(
    deliveries.map((delivery) => {
      const json = data(delivery);
      return [
        delivery.id,
        json === undefined
          ? null
          : `{"type":${JSON.stringify(delivery.event_type)},"user_id":${JSON.stringify(hook.created_by)},"data":${json}}`,
      ];
    }),
  );
}

/** The JSON of a delivery's subject; undefined where there is none. */
type FindJson = (delivery: Told) => string | undefined;

async function findData(
  deps: PayloadDependencies,
  hook: Teller,
  deliveries: readonly Told[],
): Promise<FindJson> {
  const { db, signer, config } = deps;
  const links = { baseUrl: config.baseUrl, signer, thumbnails: thumbnailLinks(signer, new Date()) };
  const ids = [...new Set(deliveries.map((delivery) => delivery.subject_id))];
  const type: HookType = hook.hook_type;
  switch (type) {
    case "recording_added":
    case "recording_updated": {
      const found = await findRecordingsForEvent(db.pool, ids, hook.include as RecordingIncludeInput, {
        ...links,
        userId: hook.created_by,
      });
      return (delivery) => found.get(delivery.subject_id);
    }
    case "highlight_added":
    case "highlight_updated": {
      const found = await findHighlightJson(db.pool, ids, hook.include, links);
      return (delivery) => found.get(delivery.subject_id);
    }
    case "story_added":
    case "story_updated": {
      const sees = hook.scope === "workspace" ? null : await findPrincipals(db.pool, hook);
      const found = await findStoryJson(db.pool, ids, sees, links);
      return (delivery) => found.get(delivery.subject_id);
    }
    case "upload_added":
    case "upload_updated":
      return findUploadData(deps, hook.include, ids);
    default:
      return eventData;
  }
}

/** Under which ids recording_grants lists what the hook's owner may see. */
async function findPrincipals(pool: pg.Pool, hook: Teller): Promise<string[]> {
  const { rows } = await pool.query<{ sees: string[] }>(
    "select parley_principals($1, members_id) as sees from workspaces where id = $2",
    [hook.created_by, hook.workspace_id],
  );
  return rows[0]?.sees ?? [];
}

/** As the event itself has it. */
const eventData: FindJson = ({ data }) => data ?? undefined;

/** Design, "Event data": the contract's fields, plus `attributes` when the hook's include asks. */
async function findUploadData(
  { db }: PayloadDependencies,
  include: UploadIncludeInput,
  uploadIds: readonly string[],
): Promise<FindJson> {
  if (!include.attributes && !include.transcript) return eventData;
  const rows = await findUploadsById(db.kysely, uploadIds);
  const transcripts = include.transcript ? await findUploadTranscripts(db.kysely, uploadIds) : new Map();
  return ({ data, subject_id }) => {
    if (data === null) return undefined;
    const row = rows.get(subject_id);
    const attributes = row && presentAttributes(row, include, transcripts.get(subject_id));
    return JSON.stringify({ ...JSON.parse(data), ...(attributes === undefined ? {} : { attributes }) });
  };
}

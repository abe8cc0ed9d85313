import type pg from "pg";
import type { RecordingIncludeInput } from "../../../../contract/recordings/recordings.ts";
import type { UploadIncludeInput } from "../../../../contract/uploads/uploads.ts";
import { hookTypes } from "../../../../contract/webhooks/hook-types.ts";
import { viewerOf } from "../../../people/access/viewer.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { LinkSigner } from "../../../platform/crypto/link-signer.ts";
import type { Database } from "../../../platform/db/database.ts";
import { presentAttributes } from "../../../processing/uploads/api/present.ts";
import { findUploadsById } from "../../../processing/uploads/queries.ts";
import { findTranscripts } from "../../../processing/uploads/transcript-copies.ts";
import { findComments } from "../../../recordings/comments/queries.ts";
import { findHighlightJson } from "../../../recordings/highlights/queries.ts";
import { thumbnailLinks } from "../../../recordings/recordings/json/links.ts";
import { findRecordingsForEvent } from "../../../recordings/recordings/queries.ts";
import { findStoryJson } from "../../../recordings/stories/queries.ts";
import type { HookRow } from "../api/queries.ts";
import type { DueDelivery } from "../deliveries/due.ts";

export interface PayloadDependencies {
  readonly db: Database;
  readonly signer: LinkSigner;
  readonly config: Pick<Config, "baseUrl">;
}

/** The parts of a hook that decide how its payloads are rendered. */
export type HookContext = Pick<HookRow, "hook_type" | "include" | "scope" | "created_by" | "workspace_id">;

/** The parts of a delivery that decide its payload. */
export type DeliverySubject = Pick<DueDelivery, "id" | "event_type" | "subject_id" | "data">;

/**
 * Renders the payloads of one hook's deliveries. Source: contract.md, Events: `type`, `user_id`, `data`. Upload statuses and
 * deleted subjects are rendered as they were at the event; everything else as it is now.
 * @returns the body by delivery id; null if the subject no longer exists.
 */
export async function renderPayloads(
  deps: PayloadDependencies,
  hook: HookContext,
  deliveries: readonly DeliverySubject[],
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

/** The JSON of a delivery's subject; undefined if it no longer exists. */
type FindJson = (delivery: DeliverySubject) => string | undefined;

async function findData(
  deps: PayloadDependencies,
  hook: HookContext,
  deliveries: readonly DeliverySubject[],
): Promise<FindJson> {
  const { db, signer, config } = deps;
  const viewerId = viewerOf({ scope: hook.scope, userId: hook.created_by, workspaceId: hook.workspace_id });
  const links = { baseUrl: config.baseUrl, signer, thumbnails: thumbnailLinks(signer, viewerId) };
  const ids = [...new Set(deliveries.map((delivery) => delivery.subject_id))];
  switch (hookTypes[hook.hook_type].data) {
    case "recording": {
      const found = await findRecordingsForEvent(db.pool, ids, hook.include as RecordingIncludeInput, {
        ...links,
        userId: hook.created_by,
      });
      return (delivery) => found.get(delivery.subject_id);
    }
    case "highlight": {
      const found = await findHighlightJson(db.pool, ids, hook.include, links);
      return (delivery) => found.get(delivery.subject_id);
    }
    case "comment": {
      const found = await findComments(db.pool, ids);
      return ({ subject_id }) => {
        const comment = found.get(subject_id);
        // A deleted comment may stay for its replies.
        return comment === undefined || comment.author === null ? undefined : JSON.stringify(comment);
      };
    }
    case "story": {
      const sees = hook.scope === "workspace" ? null : await findPrincipals(db.pool, hook);
      const found = await findStoryJson(db.pool, ids, sees, links);
      return (delivery) => found.get(delivery.subject_id);
    }
    case "upload":
      return findUploadData(deps, hook.include, ids);
    default:
      return eventData;
  }
}

/** The principals in recording_grants that grant access to the hook's owner. */
async function findPrincipals(pool: pg.Pool, hook: HookContext): Promise<string[]> {
  const { rows } = await pool.query<{ sees: string[] }>(
    "select parley_principals($1, members_id) as sees from workspaces where id = $2",
    [hook.created_by, hook.workspace_id],
  );
  return rows[0]?.sees ?? [];
}

/** The data of the event itself, without the blanks that PostgreSQL writes. */
const eventData: FindJson = ({ data }) => (data === null ? undefined : JSON.stringify(JSON.parse(data)));

/** Design, "Event data": the contract's fields, plus `attributes` when the hook's include asks. */
async function findUploadData(
  { db }: PayloadDependencies,
  include: UploadIncludeInput,
  uploadIds: readonly string[],
): Promise<FindJson> {
  if (!include.attributes && !include.transcript) return eventData;
  const rows = await findUploadsById(db.kysely, uploadIds);
  const transcripts = include.transcript ? await findTranscripts(db.kysely, [...rows.values()]) : new Map();
  return ({ data, subject_id }) => {
    if (data === null) return undefined;
    const row = rows.get(subject_id);
    const attributes = row && presentAttributes(row, include, transcripts.get(subject_id));
    return JSON.stringify({ ...JSON.parse(data), ...(attributes === undefined ? {} : { attributes }) });
  };
}

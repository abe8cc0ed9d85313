import * as contract from "../../contract/recording-operations.ts";
import type { RecordingFilterInput, RecordingIncludeInput } from "../../contract/recordings.ts";
import {
  type TranscriptFormat,
  transcriptFormats,
  transcriptJson,
  transcriptText,
} from "../../contract/transcripts.ts";
import type { Principal } from "../access/principal.ts";
import { actorOf } from "../audit/record.ts";
import type { ViewLog } from "../audit/views.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { decodeCursor, encodeCursor } from "../http/cursor.ts";
import { invalidInput, ProblemError } from "../http/problem.ts";
import { type Api, type Call, Ready, route } from "../http/route.ts";
import type { LinkSigner } from "../links/signer.ts";
import type { ObjectStore } from "../storage/store.ts";
import { thumbnailLinks } from "./links.ts";
import { findRecordingMedia, mediaLink } from "./media.ts";
import { canSeeRecording, findRecordingJson, listRecordings } from "./queries.ts";
import { recordingNotFound } from "./rights.ts";
import * as service from "./service.ts";
import { createTranscriptCache } from "./transcript-cache.ts";

const cursorName = "recordings";

/** The recordings operations of the contract. */
export function recordingRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly store: ObjectStore;
    readonly signer: LinkSigner;
    readonly views: ViewLog;
    readonly config: Pick<Config, "baseUrl" | "pageSize" | "datetimeFilters" | "downloadUrlTtlMs">;
  },
): void {
  const { db, store, signer, views, config } = deps;
  const { baseUrl } = config;
  const transcripts = createTranscriptCache(db.pool);

  route(api, contract.listRecordings, async ({ principal, body }) => {
    refusePersonalOnly(principal, body);
    const rows = await listRecordings(db.pool, {
      principal,
      filter: body.filter ?? {},
      include: body.include ?? {},
      after: body.cursor === undefined ? null : decodeCursor(cursorName, body.cursor),
      // One more than the page shows whether there is a next one.
      limit: config.pageSize + 1,
      baseUrl,
      thumbnails: thumbnailLinks(signer, new Date()),
      datetimesByName: config.datetimeFilters === "by-name",
    });
    const page = rows.slice(0, config.pageSize);
    const last = page.at(-1);
    const cursor = rows.length > page.length && last ? `"${encodeCursor(cursorName, last)}"` : "null";
    return new Ready(`{"cursor":${cursor},"recordings":[${page.map((row) => row.json).join(",")}]}`);
  });

  route(api, contract.getRecording, async ({ principal, params, body, request }) => {
    refusePersonalOnly(principal, body);
    const json = await findRecordingJson(db.pool, principal, params.recording_id, body.include ?? {}, {
      baseUrl,
      thumbnails: thumbnailLinks(signer, new Date()),
    });
    if (json === undefined) throw recordingNotFound(params.recording_id);
    await views.note(request, "recording_viewed", params.recording_id);
    return new Ready(json);
  });

  const readTranscript = async (call: TranscriptCall, format: TranscriptFormat | "json") => {
    const { recording_id } = call.params;
    const version = call.request.transcriptVersion;
    if (version === null) throw recordingNotFound(recording_id);
    await views.note(call.request, "recording_viewed", recording_id);
    return new Ready(await transcripts.read(recording_id, format, version));
  };
  route(api, transcriptJson, (call) => readTranscript(call, "json"), { needsTranscriptVersion: true });
  for (const format of transcriptFormats) {
    route(api, transcriptText[format], (call) => readTranscript(call, format), {
      needsTranscriptVersion: true,
    });
  }

  route(api, contract.downloadRecording, async ({ principal, params, request }) => {
    if (!(await canSeeRecording(db.pool, principal, params.recording_id)))
      throw recordingNotFound(params.recording_id);
    const media = await findRecordingMedia(db.kysely, params.recording_id);
    if (media === undefined)
      throw new ProblemError(
        "not_found",
        `recording ${params.recording_id} is a transcript and has no media file; read it with the transcript operations`,
      );
    const expiresAt = new Date(Date.now() + config.downloadUrlTtlMs);
    const location = await mediaLink({ store, signer, baseUrl }, media, expiresAt, request.method);
    await views.note(request, "recording_downloaded", params.recording_id);
    return new Ready("", { location });
  });

  route(api, contract.updateRecording, ({ principal, params, body }) =>
    service.renameRecording(db, principal, params.recording_id, body.title),
  );
  route(api, contract.addTag, ({ principal, params, body }) =>
    service.addTag(db, principal, params.recording_id, body.tag),
  );
  route(api, contract.removeTag, ({ principal, params }) =>
    service.removeTag(db, principal, params.recording_id, params.tag),
  );
  route(api, contract.shareToUser, ({ principal, params, body, request }) =>
    service.shareWithUser(db, principal, params.recording_id, body.user_id.toLowerCase(), actorOf(request)),
  );
  route(api, contract.unshareFromUser, ({ principal, params, request }) =>
    service.unshareFromUser(db, principal, params.recording_id, params.user_id, actorOf(request)),
  );
  route(api, contract.shareToTeam, ({ principal, params, body, request }) =>
    service.shareWithTeam(db, principal, params.recording_id, body.team_id.toLowerCase(), actorOf(request)),
  );
  route(api, contract.unshareFromTeam, ({ principal, params, request }) =>
    service.unshareFromTeam(db, principal, params.recording_id, params.team_id, actorOf(request)),
  );
}

/** What the transcript routes have in common. */
type TranscriptCall = Pick<Call<typeof transcriptJson>, "params" | "request">;

/** Contract: private_notes and attendance are "personal only": they mean one user, and a workspace token has none. */
function refusePersonalOnly(
  principal: Principal,
  body: {
    include?: RecordingIncludeInput | undefined;
    filter?: RecordingFilterInput | undefined;
  },
): void {
  if (principal.scope === "personal") return;
  const violations = [
    ...(body.include?.private_notes ? ["/include/private_notes"] : []),
    ...(body.filter?.attendance ? ["/filter/attendance"] : []),
  ].map((pointer) => ({ pointer, detail: "needs a personal token; this is a workspace token" }));
  if (violations.length > 0) throw invalidInput(violations);
}

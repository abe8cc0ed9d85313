import * as contract from "../../../../contract/recordings/recording-operations.ts";
import type {
  RecordingFilterInput,
  RecordingIncludeInput,
} from "../../../../contract/recordings/recordings.ts";
import {
  type TranscriptFormat,
  transcriptFormats,
  transcriptJson,
  transcriptText,
} from "../../../../contract/transcripts/transcripts.ts";
import { readVisible } from "../../../people/access/read-visible.ts";
import { viewerOf } from "../../../people/access/viewer.ts";
import { actorOf } from "../../../platform/audit/record.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { LinkSigner } from "../../../platform/crypto/link-signer.ts";
import type { Database } from "../../../platform/db/database.ts";
import { invalidInput, ProblemError } from "../../../platform/http/errors/problem.ts";
import { timeCursor } from "../../../platform/http/page.ts";
import { type Api, type Call, Ready, ReadyPage, route } from "../../../platform/http/routing/route.ts";
import { warningHeader } from "../../../platform/http/warning.ts";
import { addTag, removeTag, renameRecording } from "../change/title-and-tags.ts";
import { success } from "../change/update-recording.ts";
import { compatibleInclude, explainIgnored } from "../json/compatible-include.ts";
import { thumbnailLinks } from "../json/links.ts";
import { explainEmpty, explainExcluded } from "../list/datetime-filters.ts";
import { findRecordingMedia, mediaLink } from "../media/media.ts";
import { canSeeRecording, findRecordingJson, findTranscriptVersion, listRecordings } from "../queries.ts";
import { recordingNotFound } from "../rights.ts";
import * as shares from "../share/shares.ts";
import { createTranscriptCache } from "../transcript/cache.ts";
import type { ViewLog } from "../view-log.ts";

const cursorFormat = timeCursor("recordings");

/** The recordings operations of the contract. */
export function recordingRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly signer: LinkSigner;
    readonly views: ViewLog;
    readonly config: Pick<
      Config,
      "baseUrl" | "pageSize" | "datetimeFilters" | "compatibility" | "downloadUrlTtlMs"
    >;
  },
): void {
  const { db, signer, views, config } = deps;
  const { baseUrl } = config;
  const transcripts = createTranscriptCache(db.pool);

  route(api, contract.listRecordings, async ({ principal, body, request }) => {
    refusePersonalOnly(principal, body);
    const datetimeFilters = principal.datetimeFilters ?? config.datetimeFilters;
    const after = body.cursor === undefined ? null : cursorFormat.decode(body.cursor);
    const page = await readVisible(
      db,
      principal,
      (source) =>
        listRecordings(source, {
          after,
          limit: config.pageSize + 1,
          principal,
          filter: body.filter ?? {},
          include: compatibleInclude(body.include ?? {}, principal, config),
          baseUrl,
          thumbnails: thumbnailLinks(signer, viewerOf(principal)),
          datetimeFilters,
          withIds: db.replica !== null,
        }),
      ({ ids }) => ids,
    );
    const cursor = page.last === null ? null : cursorFormat.encode(page.last);
    const { filter = {} } = body;
    const excluded = explainExcluded(filter, datetimeFilters);
    if (excluded !== null) request.log.info({ datetime_filters: datetimeFilters }, excluded);
    const isEmpty = page.json === "" && body.cursor === undefined;
    const dates = excluded ?? (isEmpty ? explainEmpty(filter, datetimeFilters) : null);
    return new ReadyPage(
      cursor,
      `"recordings":[${page.json}]`,
      warningHeader(dates, explainIgnored(body.include ?? {}, principal, config)),
    );
  });

  route(api, contract.getRecording, async ({ principal, params, body, request }) => {
    refusePersonalOnly(principal, body);
    const include = compatibleInclude(body.include ?? {}, principal, config);
    const json = await findRecordingJson(db.pool, principal, params.recording_id, include, {
      baseUrl,
      thumbnails: thumbnailLinks(signer, viewerOf(principal)),
    });
    if (json === undefined) throw recordingNotFound(params.recording_id);
    await views.note(request, "recording_viewed", params.recording_id);
    return new Ready(json, warningHeader(explainIgnored(body.include ?? {}, principal, config)));
  });

  const readTranscript = async (
    { principal, params, request }: TranscriptCall,
    format: TranscriptFormat | "json",
  ) => {
    const { recording_id } = params;
    const version = await findTranscriptVersion(db.pool, principal, recording_id);
    if (version === null) throw recordingNotFound(recording_id);
    await views.note(request, "recording_viewed", recording_id);
    return new Ready(await transcripts.read(recording_id, format, version));
  };
  route(api, transcriptJson, (call) => readTranscript(call, "json"));
  for (const format of transcriptFormats)
    route(api, transcriptText[format], (call) => readTranscript(call, format));

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
    const location = mediaLink(
      { signer, baseUrl },
      params.recording_id.toLowerCase(),
      viewerOf(principal),
      expiresAt,
    );
    await views.note(request, "recording_downloaded", params.recording_id);
    return new Ready("", { location });
  });

  route(api, contract.updateRecording, ({ principal, params, body }) =>
    success(renameRecording(db, principal, params.recording_id, body.title)),
  );
  route(api, contract.addTag, ({ principal, params, body }) =>
    success(addTag(db, principal, params.recording_id, body.tag)),
  );
  route(api, contract.removeTag, ({ principal, params }) =>
    success(removeTag(db, principal, params.recording_id, params.tag)),
  );
  route(api, contract.shareToUser, ({ principal, params, body, request }) =>
    success(
      shares.shareWithUser(db, principal, params.recording_id, body.user_id.toLowerCase(), actorOf(request)),
    ),
  );
  route(api, contract.unshareFromUser, ({ principal, params, request }) =>
    success(shares.unshareFromUser(db, principal, params.recording_id, params.user_id, actorOf(request))),
  );
  route(api, contract.shareToTeam, ({ principal, params, body, request }) =>
    success(
      shares.shareWithTeam(db, principal, params.recording_id, body.team_id.toLowerCase(), actorOf(request)),
    ),
  );
  route(api, contract.unshareFromTeam, ({ principal, params, request }) =>
    success(shares.unshareFromTeam(db, principal, params.recording_id, params.team_id, actorOf(request))),
  );
}

/** A call of any transcript route. */
type TranscriptCall = Pick<Call<typeof transcriptJson>, "principal" | "params" | "request">;

/** Contract: private_notes and attendance are "personal only", because a workspace token belongs to no user. */
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

import * as notes from "../../../../contract/recordings/private-notes.ts";
import * as contract from "../../../../contract/recordings/recording-data.ts";
import { viewerOf } from "../../../people/access/viewer.ts";
import { actorOf } from "../../../platform/audit/record.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { LinkSigner } from "../../../platform/crypto/link-signer.ts";
import type { Database } from "../../../platform/db/database.ts";
import { type Api, Ready, route } from "../../../platform/http/routing/route.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import type { ObjectStore } from "../../../platform/storage/store.ts";
import { changeRecordingData } from "../change/change-data.ts";
import { refuseUnknownReferences } from "../change/violations.ts";
import { thumbnailLinks } from "../json/links.ts";
import { recordingMediaLinks } from "../media/media-links.ts";
import { deleteNotes, readNotes, writeNotes } from "../notes/notes.ts";
import { canSeeRecording } from "../queries.ts";
import { recordingNotFound } from "../rights.ts";
import type { ViewLog } from "../view-log.ts";
import { findRecordingView } from "./recording-view.ts";

/** The management API's recording operations. */
export function recordingDataRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly jobs: JobQueue;
    readonly store: ObjectStore;
    readonly signer: LinkSigner;
    readonly views: ViewLog;
    readonly config: Pick<Config, "baseUrl" | "downloadUrlTtlMs">;
    /** Whether recordings can be transcribed. */
    readonly hasSpeechModel: () => Promise<boolean>;
  },
): void {
  const { db, signer, views, config } = deps;

  const options = refuseUnknownReferences(db);

  route(api, contract.getRecordingView, async ({ principal, params, request }) => {
    const json = await findRecordingView(db.pool, principal, params.recording_id, {
      baseUrl: config.baseUrl,
      thumbnails: thumbnailLinks(signer, viewerOf(principal)),
      hasSpeechModel: await deps.hasSpeechModel(),
    });
    if (json === undefined) throw recordingNotFound(params.recording_id);
    await views.note(request, "recording_viewed", params.recording_id);
    return new Ready(json);
  });

  route(
    api,
    contract.updateRecordingData,
    ({ principal, params, body, request }) =>
      changeRecordingData(deps, principal, params.recording_id, actorOf(request), body),
    options,
  );

  route(api, contract.getRecordingMedia, async ({ principal, params, request }) => {
    if (!(await canSeeRecording(db.pool, principal, params.recording_id)))
      throw recordingNotFound(params.recording_id);
    await views.note(request, "recording_viewed", params.recording_id);
    return recordingMediaLinks(deps, params.recording_id, viewerOf(principal));
  });

  route(api, notes.getPrivateNotes, async ({ principal, params }) => ({
    text: await readNotes(db, principal, params.recording_id),
  }));
  route(api, notes.putPrivateNotes, ({ principal, params, body }) =>
    writeNotes(db, principal, params.recording_id, body.text),
  );
  route(api, notes.deletePrivateNotes, ({ principal, params }) =>
    deleteNotes(db, principal, params.recording_id),
  );
}

import {
  getDocument,
  getWordDocument,
  type RecordingDocument,
  wordContentType,
} from "../../../contract/documents/document.ts";
import type { DocumentPart } from "../../../contract/documents/document-parts.ts";
import { withoutExtension } from "../../../shared/files/download-name.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import { type Api, Ready, route } from "../../platform/http/routing/route.ts";
import { contentDisposition } from "../../platform/storage/content-disposition.ts";
import { canSeeRecording } from "../../recordings/recordings/queries.ts";
import { recordingNotFound } from "../../recordings/recordings/rights.ts";
import type { ViewLog } from "../../recordings/recordings/view-log.ts";
import { readParts } from "../exports/read.ts";
import { composeDocument } from "./compose.ts";
import { createWordWriter } from "./word-writer.ts";

/** Recordings as documents: to print, and for Word. */
export function documentRoutes(
  api: Api,
  deps: { readonly db: Database; readonly views: ViewLog; readonly config: Pick<Config, "baseUrl"> },
): void {
  const { db, views, config } = deps;
  const writer = createWordWriter();

  route(api, getDocument, async ({ principal, params, query, request }) => {
    const document = await read(principal, params.recording_id, query.parts);
    await views.note(request, "recording_viewed", params.recording_id);
    return document;
  });

  route(api, getWordDocument, async ({ principal, params, query, request }) => {
    const document = await read(principal, params.recording_id, query.parts);
    const bytes = await writer.write(document, query.time_zone ?? "UTC");
    await views.note(request, "recording_downloaded", params.recording_id);
    const name = withoutExtension(document.title, "docx").replace(/[\\/:*?"<>|\p{Cc}]/gu, "-");
    return new Ready(bytes, {
      "content-type": wordContentType,
      "content-disposition": contentDisposition(`${name}.docx`),
    });
  });

  async function read(
    principal: Principal,
    recordingId: string,
    parts: readonly DocumentPart[] | undefined,
  ): Promise<RecordingDocument> {
    if (!(await canSeeRecording(db.pool, principal, recordingId))) throw recordingNotFound(recordingId);
    const found = await readParts(db, config.baseUrl, { workspaceId: principal.workspaceId, recordingId });
    // Deleted in between.
    if (found === undefined) throw recordingNotFound(recordingId);
    return composeDocument(found.recording, found.entries, config.baseUrl, parts);
  }
}

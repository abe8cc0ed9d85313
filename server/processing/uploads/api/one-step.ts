import { randomUUIDv7 } from "node:crypto";
import { z } from "zod";
import { Uuid } from "../../../../contract/common.ts";
import type { Violation } from "../../../../contract/errors.ts";
import type { uploadRecording } from "../../../../contract/uploads/uploads.ts";
import { findUserIds } from "../../../people/directory/queries.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Database, Executor } from "../../../platform/db/database.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import type { MediaExpectation } from "../../media/facts.ts";
import { recordUploadAdded } from "../lifecycle/events.ts";
import { advance } from "../lifecycle/transition.ts";
import { insertUpload, type UploadRow } from "../queries.ts";
import { checkUploadQuotas, type UploadQuotas } from "../quotas.ts";
import { type FileSettings, planFile } from "../transfer/file-plan.ts";
import { defaultTitle } from "./attributes.ts";

type Extension = Extract<MediaExpectation, { kind: "one_step" }>["extension"];

/** Contract: "Supported file formats: .mov, .mp4, .mp3, .m4a", with the media type each most likely holds. */
const formats: Readonly<Record<Extension, "video" | "audio">> = {
  mov: "video",
  mp4: "video",
  mp3: "audio",
  m4a: "audio",
};

/** The format that a file name indicates; null for an unsupported one. */
export function extensionOf(fileName: string): Extension | null {
  const name = /\.([a-z0-9]+)\s*$/i.exec(fileName)?.[1]?.toLowerCase();
  return name !== undefined && Object.hasOwn(formats, name) ? (name as Extension) : null;
}

/** The title of the recording: the file's name without folders and extension. */
function titleOf(fileName: string): string {
  return (fileName.split(/[\\/]/).at(-1) ?? "").replace(/\.[a-z0-9]+\s*$/i, "").trim();
}

const PartialBody = z.object({
  filename: z.string().optional().catch(undefined),
  user_id: z.string().nullish().catch(undefined),
});

/** Rules of Upload Recording that depend on the token and the database. */
export async function findOneStepViolations(
  db: Executor,
  principal: Principal,
  body: unknown,
): Promise<Violation[]> {
  const partial = PartialBody.safeParse(body).data ?? {};
  const violations: Violation[] = [];
  if (partial.filename !== undefined && extensionOf(partial.filename) === null)
    violations.push({ pointer: "/filename", detail: "must end in .mov, .mp4, .mp3 or .m4a" });
  const userId = Uuid.safeParse(partial.user_id ?? undefined).data?.toLowerCase();
  if (principal.scope === "workspace" && !partial.user_id)
    violations.push({
      pointer: "/user_id",
      detail: "is required with a workspace token: name the user who will own the recording",
    });
  if (userId === undefined) return violations;
  if (principal.scope === "personal" && userId !== principal.userId)
    violations.push({ pointer: "/user_id", detail: "must be your own with a personal token" });
  else if (!(await findUserIds(db, principal.workspaceId, [userId])).has(userId))
    violations.push({
      pointer: "/user_id",
      detail: "is not a user of this workspace; see List Users",
    });
  return violations;
}

/**
 * Creates an upload by the older operation: the same resource as any other (design, section 4, "Legacy upload"), which
 * promotes itself and reports its progress by upload_status.
 */
export async function createOneStepUpload(
  { db, jobs, config }: { db: Database; jobs: JobQueue; config: FileSettings & UploadQuotas },
  principal: Principal,
  input: (typeof uploadRecording)["body"]["_zod"]["output"],
): Promise<UploadRow> {
  const extension = extensionOf(input.filename);
  if (extension === null) throw new Error("the route accepts no other formats");
  const mediaType = formats[extension];
  return db.kysely.transaction().execute(async (tx) => {
    await checkUploadQuotas(tx, config, principal, true);
    const created = await insertUpload(tx, {
      id: randomUUIDv7(),
      workspace_id: principal.workspaceId,
      created_by: principal.userId,
      scope: principal.scope,
      media_type: mediaType,
      title: titleOf(input.filename) || defaultTitle(mediaType, new Date()),
      has_default_title: titleOf(input.filename) === "",
      auto_promote: true,
      start_datetime: null,
      team_id: null,
      recorder_ids: [input.user_id?.toLowerCase() ?? principal.userId],
      participants: [],
      one_step: extension,
      file: await planFile(tx, config, principal.workspaceId),
    });
    await recordUploadAdded(tx, created);
    return advance(tx, jobs, created);
  });
}

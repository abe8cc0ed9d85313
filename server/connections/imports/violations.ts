import { z } from "zod";
import type { Violation } from "../../../contract/errors.ts";
import { parseTimestamp } from "../../../shared/times/timestamp.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import type { ObjectStore } from "../../platform/storage/store.ts";
import { findReferenceViolations } from "../../recordings/recordings/change/violations.ts";
import { readMediaUrl } from "./media-url.ts";

const optional = <T extends z.ZodType>(schema: T) => schema.nullish().catch(undefined);

/** The parts of a body that these rules read. Values of another type are ignored here; the schema reports them. */
const PartialBody = z.object({
  media: optional(z.object({ url: optional(z.string()) })),
  start_datetime: optional(z.string()),
  external_id: optional(z.string()),
  recorder_ids: optional(z.array(z.unknown())),
  participants: optional(
    z.array(
      optional(
        z.object({ observed_join_time: optional(z.string()), observed_leave_time: optional(z.string()) }),
      ),
    ),
  ),
  screenshares: optional(
    z.array(optional(z.object({ participant: optional(z.number()), end: optional(z.number()) }))),
  ),
  transcript: optional(
    z.object({ segments: optional(z.array(optional(z.object({ end: optional(z.number()) })))) }),
  ),
});
type PartialBody = z.output<typeof PartialBody>;

interface Dependencies {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly config: Pick<Config, "s3" | "maxUploadBytes">;
}

/** Rules of an import that depend on the caller, the workspace, the store, or other parts of the body. */
export async function findImportViolations(
  deps: Dependencies,
  principal: Principal,
  body: unknown,
): Promise<Violation[]> {
  const partial = PartialBody.safeParse(body).data;
  if (partial === undefined) return [];
  return [
    ...(await findReferenceViolations(deps.db.kysely, principal.workspaceId, body)),
    ...findExternalIdViolations(partial),
    ...findRecorderViolations(principal, partial),
    ...(await findMediaViolations(deps, principal, partial)),
    ...findScreenshareViolations(partial),
    ...findObservedViolations(partial),
  ];
}

/** External ids of the sample recordings begin with this; an admin can delete them with one click, so no client may. */
export const samplePrefix = "parley-sample/";

function findExternalIdViolations({ external_id }: PartialBody): Violation[] {
  if (!external_id?.trim().startsWith(samplePrefix)) return [];
  return [
    { pointer: "/external_id", detail: `must not start with ${samplePrefix}, which names sample recordings` },
  ];
}

function findRecorderViolations(principal: Principal, { recorder_ids }: PartialBody): Violation[] {
  if (principal.scope === "personal" || recorder_ids?.length) return [];
  return [{ pointer: "/recorder_ids", detail: "is required with a workspace token: name at least one user" }];
}

/** Whether the caller may name objects in the store. */
export function canNameObjects(principal: Principal): boolean {
  return principal.scope === "workspace" || principal.role === "admin";
}

async function findMediaViolations(
  { store, config }: Dependencies,
  principal: Principal,
  { media, transcript }: PartialBody,
): Promise<Violation[]> {
  if (!media) return transcript ? [] : [{ pointer: "/transcript", detail: "is required without media" }];
  // A caller without permission to name objects must not learn which exist.
  if (!media.url || !canNameObjects(principal)) return [];
  const found = readMediaUrl(media.url, principal.workspaceId, store, config.s3?.bucket ?? null);
  if ("fault" in found) return [{ pointer: "/media/url", detail: found.fault }];
  const object = await store.head(found.key);
  if (object === null) return [{ pointer: "/media/url", detail: "is not an object in the store" }];
  if (object.size <= config.maxUploadBytes) return [];
  return [
    {
      pointer: "/media/url",
      detail: `is an object of ${object.size} bytes; the limit is ${config.maxUploadBytes}`,
    },
  ];
}

function findScreenshareViolations({
  screenshares,
  participants,
  media,
  transcript,
}: PartialBody): Violation[] {
  const people = participants?.length ?? 0;
  const ends = transcript?.segments?.map((segment) => segment?.end ?? 0) ?? [];
  // A file's length is known only once it is here; screenshares beyond it are cut.
  const durationMs = media ? null : ends.reduce((latest, end) => Math.max(latest, end), 0);
  return (screenshares ?? []).flatMap((share, index) => {
    const faults: Violation[] = [];
    if (typeof share?.participant === "number" && share.participant >= people)
      faults.push({
        pointer: `/screenshares/${index}/participant`,
        detail: `is not an index of participants, which has ${people}`,
      });
    if (typeof share?.end === "number" && durationMs !== null && share.end > durationMs)
      faults.push({
        pointer: `/screenshares/${index}/end`,
        detail: `is after the end of the transcript, at ${durationMs} ms`,
      });
    return faults;
  });
}

/** Clocks and time zones may be off and meetings last hours, but a difference of days is an error. */
const slackMs = 2 * 86_400_000;

function findObservedViolations({ start_datetime, participants }: PartialBody): Violation[] {
  const start = parseTimestamp(start_datetime ?? "")?.getTime();
  if (start === undefined) return [];
  return (participants ?? []).flatMap((person, index) =>
    (["observed_join_time", "observed_leave_time"] as const).flatMap((field) => {
      const at = parseTimestamp(person?.[field] ?? "")?.getTime();
      if (at === undefined || Math.abs(at - start) <= slackMs) return [];
      return [
        { pointer: `/participants/${index}/${field}`, detail: "must be within two days of start_datetime" },
      ];
    }),
  );
}

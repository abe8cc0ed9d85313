import { z } from "zod";
import { parseTimestamp } from "../../contract/common.ts";
import type { Violation } from "../../contract/errors.ts";
import { mediaFormats } from "../../contract/imports.ts";
import type { Principal } from "../access/principal.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { findReferenceFaults } from "../recording-data/faults.ts";
import type { ObjectStore } from "../storage/store.ts";
import { formatOf, readMediaUrl } from "./media-url.ts";

const optional = <T extends z.ZodType>(schema: T) => schema.nullish().catch(undefined);

/** As much of a body as these rules look at. What has another form is passed over: the schema names it. */
const Looked = z.object({
  media: optional(z.object({ format: optional(z.enum(mediaFormats)), url: optional(z.string()) })),
  start_datetime: optional(z.string()),
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
type Looked = z.output<typeof Looked>;

interface Dependencies {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly config: Pick<Config, "s3" | "maxUploadBytes">;
}

/** Rules of an import that depend on the caller, the workspace, the store, or other parts of the body. */
export async function findImportFaults(
  deps: Dependencies,
  principal: Principal,
  body: unknown,
): Promise<Violation[]> {
  const looked = Looked.safeParse(body).data;
  if (looked === undefined) return [];
  return [
    ...(await findReferenceFaults(deps.db.kysely, principal.workspaceId, body)),
    ...findRecorderFaults(principal, looked),
    ...(await findMediaFaults(deps, principal, looked)),
    ...findScreenshareFaults(looked),
    ...findObservedFaults(looked),
  ];
}

function findRecorderFaults(principal: Principal, { recorder_ids }: Looked): Violation[] {
  if (principal.scope === "personal" || recorder_ids?.length) return [];
  return [{ pointer: "/recorder_ids", detail: "is required with a workspace token: name at least one user" }];
}

/** Whether the caller may name what lies in the store. */
export function mayNameObjects(principal: Principal): boolean {
  return principal.scope === "workspace" || principal.role === "admin";
}

async function findMediaFaults(
  { store, config }: Dependencies,
  principal: Principal,
  { media, transcript }: Looked,
): Promise<Violation[]> {
  if (!media)
    return transcript ? [] : [{ pointer: "/transcript", detail: "is required where there is no media" }];
  const faults: Violation[] = [];
  if (!media.format && !formatOf(media.url ?? ""))
    faults.push({ pointer: "/media/format", detail: `must be one of: ${mediaFormats.join(", ")}` });
  // Whoever may not name objects is not told which there are.
  if (!media.url || !mayNameObjects(principal)) return faults;
  const found = readMediaUrl(media.url, principal.workspaceId, store, config.s3?.bucket ?? null);
  if ("fault" in found) return [...faults, { pointer: "/media/url", detail: found.fault }];
  const object = await store.head(found.key);
  if (object === null) faults.push({ pointer: "/media/url", detail: "names no object of the store" });
  else if (object.size > config.maxUploadBytes)
    faults.push({
      pointer: "/media/url",
      detail: `names an object of ${object.size} bytes; at most ${config.maxUploadBytes} are taken`,
    });
  return faults;
}

function findScreenshareFaults({ screenshares, participants, media, transcript }: Looked): Violation[] {
  const people = participants?.length ?? 0;
  const ends = transcript?.segments?.map((segment) => segment?.end ?? 0) ?? [];
  // How long a file is shows only when it is here; what is too long then is cut.
  const durationMs = media ? null : ends.reduce((latest, end) => Math.max(latest, end), 0);
  return (screenshares ?? []).flatMap((share, index) => {
    const faults: Violation[] = [];
    if (typeof share?.participant === "number" && share.participant >= people)
      faults.push({
        pointer: `/screenshares/${index}/participant`,
        detail: `is no place in participants, which has ${people}`,
      });
    if (typeof share?.end === "number" && durationMs !== null && share.end > durationMs)
      faults.push({
        pointer: `/screenshares/${index}/end`,
        detail: `lies after the end of the transcript, at ${durationMs} ms`,
      });
    return faults;
  });
}

/** Clocks and time zones may be off, and a meeting lasts hours: days are wrong. */
const slackMs = 2 * 86_400_000;

function findObservedFaults({ start_datetime, participants }: Looked): Violation[] {
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

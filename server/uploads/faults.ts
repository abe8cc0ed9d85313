import { z } from "zod";
import { Uuid } from "../../contract/common.ts";
import type { Violation } from "../../contract/errors.ts";
import type { Principal } from "../access/principal.ts";
import type { Executor } from "../db/database.ts";
import { findTeam, findUserIds } from "../directory/queries.ts";

/**
 * As much of an upload's body as these rules look at. What has another form is passed over: the schema names it.
 */
const Looked = z.object({
  media_type: z.string().optional().catch(undefined),
  attributes: z
    .looseObject({
      team_id: Uuid.nullish().catch(undefined),
      recorder_ids: z.array(z.unknown()).nullish().catch(undefined),
      transcript: z.unknown().optional(),
    })
    .nullish()
    .catch(undefined),
});

/** Contract, Errors, 7: "a workspace-scope upload without recorder_ids is invalid". */
export const recordersRequired: Violation = {
  pointer: "/attributes/recorder_ids",
  detail: "is required with a workspace token: name at least one user",
};

/** Rules of Create Upload that depend on the media type and the token. Source: contract.md, Errors, 7. */
export async function findCreationFaults(
  db: Executor,
  principal: Principal,
  body: unknown,
): Promise<Violation[]> {
  const looked = Looked.safeParse(body).data;
  if (looked === undefined) return [];
  const violations: Violation[] = [];
  if (looked.media_type === "transcript" && (looked.attributes?.transcript ?? undefined) === undefined)
    violations.push({
      pointer: "/attributes/transcript",
      detail: "is required when media_type is transcript",
    });
  if (principal.scope === "workspace" && !looked.attributes?.recorder_ids?.length)
    violations.push(recordersRequired);
  return [...violations, ...(await findReferenceFaults(db, principal, body))];
}

/** Ids that name nothing in the caller's workspace. */
export async function findReferenceFaults(
  db: Executor,
  principal: Principal,
  body: unknown,
): Promise<Violation[]> {
  const attributes = Looked.safeParse(body).data?.attributes;
  const violations: Violation[] = [];
  if (attributes?.team_id && !(await findTeam(db, principal.workspaceId, attributes.team_id)))
    violations.push({
      pointer: "/attributes/team_id",
      detail: "is no team of this workspace; take it from List Teams",
    });
  const recorderIds = (attributes?.recorder_ids ?? []).slice(0, 1000);
  const ids = recorderIds.map((id) => Uuid.safeParse(id).data?.toLowerCase());
  const known = await findUserIds(
    db,
    principal.workspaceId,
    ids.filter((id) => id !== undefined),
  );
  ids.forEach((id, index) => {
    if (id !== undefined && !known.has(id))
      violations.push({
        pointer: `/attributes/recorder_ids/${index}`,
        detail: "is no user of this workspace; take it from List Users",
      });
  });
  return violations;
}

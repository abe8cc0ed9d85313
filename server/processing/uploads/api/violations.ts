import { z } from "zod";
import { Uuid } from "../../../../contract/common.ts";
import type { Violation } from "../../../../contract/errors.ts";
import { findTeam, findUserIds } from "../../../people/directory/queries.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Executor } from "../../../platform/db/database.ts";

/**
 * The parts of an upload's body that these rules read. Values of another type are ignored here; the schema reports
 * them.
 */
const PartialBody = z.object({
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
export async function findCreationViolations(
  db: Executor,
  principal: Principal,
  body: unknown,
): Promise<Violation[]> {
  const partial = PartialBody.safeParse(body).data;
  if (partial === undefined) return [];
  const violations: Violation[] = [];
  if (partial.media_type === "transcript" && (partial.attributes?.transcript ?? undefined) === undefined)
    violations.push({
      pointer: "/attributes/transcript",
      detail: "is required when media_type is transcript",
    });
  if (principal.scope === "workspace" && !partial.attributes?.recorder_ids?.length)
    violations.push(recordersRequired);
  return [...violations, ...(await findReferenceViolations(db, principal, body))];
}

/** Ids that do not exist in the caller's workspace. */
export async function findReferenceViolations(
  db: Executor,
  principal: Principal,
  body: unknown,
): Promise<Violation[]> {
  const attributes = PartialBody.safeParse(body).data?.attributes;
  const violations: Violation[] = [];
  if (attributes?.team_id && !(await findTeam(db, principal.workspaceId, attributes.team_id)))
    violations.push({
      pointer: "/attributes/team_id",
      detail: "is not a team of this workspace; see List Teams",
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
        detail: "is not a user of this workspace; see List Users",
      });
  });
  return violations;
}

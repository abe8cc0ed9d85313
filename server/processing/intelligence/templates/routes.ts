import { randomUUIDv7 } from "node:crypto";
import { because } from "../../../../contract/causes/causes.ts";
import * as contract from "../../../../contract/recordings/intelligence.ts";
import type { Database, Tx } from "../../../platform/db/database.ts";
import { invalidInput, ProblemError } from "../../../platform/http/errors/problem.ts";
import { type Api, route } from "../../../platform/http/routing/route.ts";
import {
  deleteTemplateRow,
  findTemplate,
  findTemplateRoom,
  findTemplates,
  insertTemplate,
  isTitleTaken,
  updateTemplateRow,
} from "./queries.ts";

function templateNotFound(templateId: string): ProblemError {
  return new ProblemError("not_found", `there is no template ${templateId} in this workspace`);
}

/** The management API of templates for AI sections: every member can read them, admins and workspace tokens change them. */
export function templateRoutes(api: Api, { db }: { readonly db: Database }): void {
  route(api, contract.listTemplates, async ({ principal }) => ({
    templates: await findTemplates(db.kysely, principal.workspaceId),
  }));

  route(api, contract.getTemplate, async ({ principal, params }) => {
    const template = await findTemplate(db.kysely, principal.workspaceId, params.template_id);
    if (template === undefined) throw templateNotFound(params.template_id);
    return template;
  });

  route(api, contract.createTemplate, ({ principal, body }) =>
    db.kysely.transaction().execute(async (tx) => {
      const { workspaceId } = principal;
      const room = await findTemplateRoom(tx, workspaceId);
      await refuseTakenTitle(tx, workspaceId, body.title, null);
      if (room.count >= contract.maxTemplates)
        throw new ProblemError("wrong_state", because("template_limit", { limit: room.count }));
      return insertTemplate(tx, {
        ...body,
        id: randomUUIDv7(),
        workspaceId,
        position: body.position ?? room.next_position,
        enabled: body.enabled ?? true,
      });
    }),
  );

  route(api, contract.updateTemplate, ({ principal, params, body }) =>
    db.kysely.transaction().execute(async (tx) => {
      const { workspaceId } = principal;
      // Keeps another request from using the title.
      await findTemplateRoom(tx, workspaceId);
      if (body.title !== undefined) await refuseTakenTitle(tx, workspaceId, body.title, params.template_id);
      const template = await updateTemplateRow(tx, workspaceId, params.template_id, body);
      if (template === undefined) throw templateNotFound(params.template_id);
      return template;
    }),
  );

  route(api, contract.deleteTemplate, async ({ principal, params }) => {
    if (!(await deleteTemplateRow(db.kysely, principal.workspaceId, params.template_id)))
      throw templateNotFound(params.template_id);
    return { success: true as const };
  });
}

async function refuseTakenTitle(
  tx: Tx,
  workspaceId: string,
  title: string,
  exceptId: string | null,
): Promise<void> {
  if (await isTitleTaken(tx, workspaceId, title, exceptId))
    throw invalidInput([
      {
        pointer: "/title",
        detail: "is used by another template; titles are compared without regard to case",
      },
    ]);
}

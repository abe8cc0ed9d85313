import type { z } from "zod";
import * as contract from "../../../contract/deliveries/deliveries.ts";
import { actorOf } from "../../platform/audit/record.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Config } from "../../platform/config/config.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { numberCursor, readPage } from "../../platform/http/page.ts";
import { type Api, route } from "../../platform/http/routing/route.ts";
import { canSeeRecording } from "../../recordings/recordings/queries.ts";
import { recordingNotFound } from "../../recordings/recordings/rights.ts";
import { disabledReason, isOn } from "../webhooks/api/present.ts";
import { findActivity, type HookActivity } from "../webhooks/management/log-queries.ts";
import { isChat } from "./chat.ts";
import { composeMessage, dateMark, dateOf } from "./content.ts";
import { emailOf } from "./email.ts";
import { findCandidates, readExample } from "./example.ts";
import { chatPayload } from "./formats/chat.ts";
import { noteOf } from "./note.ts";
import {
  type AttemptRow,
  type DestinationRow,
  findDestination,
  findDestinationAttempt,
  findDestinationAttempts,
  findDestinations,
} from "./queries.ts";
import * as service from "./service.ts";

const cursorFormat = numberCursor("delivery attempts", 1);

/** Deliveries of summaries to chats, by email and as files. */
export function deliveryRoutes(
  api: Api,
  deps: service.DeliveryServices & { readonly config: Pick<Config, "pageSize"> },
): void {
  const { db, config } = deps;

  route(api, contract.listDestinations, async ({ principal }) => ({
    deliveries: await presentMany(await findDestinations(db.kysely, principal)),
  }));

  route(api, contract.createDestination, async ({ principal, body, request }) => {
    const id = await service.createDestination(deps, { principal, actor: actorOf(request) }, body);
    return presentOne(await find(principal, id));
  });

  route(api, contract.updateDestination, async ({ principal, params, body, request }) => {
    const row = await find(principal, params.delivery_id);
    await service.updateDestination(deps, { principal, actor: actorOf(request) }, row, body);
    return presentOne(await find(principal, row.id));
  });

  route(api, contract.deleteDestination, async ({ principal, params, request }) => {
    await service.deleteDestination(deps, actorOf(request), await find(principal, params.delivery_id));
    return { success: true as const };
  });

  route(api, contract.testDestination, async ({ principal, params }) =>
    service.testDestination(deps, principal, await find(principal, params.delivery_id)),
  );

  route(api, contract.previewDestination, async ({ principal, body }) => {
    const { recording_id: wanted, kind, template, conditions } = body;
    if (wanted !== undefined && !(await canSeeRecording(db.pool, principal, wanted)))
      throw recordingNotFound(wanted);
    const recordings = await findCandidates(deps, principal, conditions);
    const example = await readExample(deps, principal.workspaceId, wanted ?? recordings[0]?.id);
    const { reader, shown: recording } = example;
    if (wanted !== undefined && recording === null) throw recordingNotFound(wanted);
    const message = composeMessage(reader, example, config.baseUrl, template);
    const text = message.text.replaceAll(dateMark, dateOf(message));
    const common = { recording, recordings, title: message.title, text, truncated: false };
    if (kind === "email") return { ...common, payload: emailOf(message, "").text };
    if (kind === "markdown") return { ...common, payload: noteOf(reader, example, config.baseUrl, body) };
    const { body: payload, isCut } = chatPayload(kind, message);
    return { ...common, payload, truncated: isCut };
  });

  route(api, contract.listDestinationAttempts, async ({ principal, params, query }) => {
    const { id } = await find(principal, params.delivery_id);
    const { rows, cursor } = await readPage({
      cursor: query.cursor,
      size: config.pageSize,
      format: cursorFormat,
      fetch: ({ after, limit }) =>
        findDestinationAttempts(db.kysely, principal, id, { before: after?.[0] ?? null, limit }),
      positionOf: (row) => [row.id],
    });
    return { attempts: rows.map(presentAttempt), cursor };
  });

  route(api, contract.resendDestinationAttempt, async ({ principal, params }) => {
    const row = await find(principal, params.delivery_id);
    const findOne = async (): Promise<AttemptRow> => {
      const found = await findDestinationAttempt(db.kysely, principal, row.id, params.attempt_id);
      if (found === undefined)
        throw new ProblemError(
          "not_found",
          `this delivery has no attempt ${params.attempt_id}; they are kept for 30 days`,
        );
      return found;
    };
    await findOne();
    await service.resendAttempt(deps, row, params.attempt_id);
    return presentAttempt(await findOne());
  });

  async function find(principal: Principal, id: string): Promise<DestinationRow> {
    const row = await findDestination(db.kysely, principal, id);
    if (row === undefined) throw service.destinationNotFound(id);
    return row;
  }

  async function presentMany(rows: readonly DestinationRow[]) {
    const activity = await findActivity(
      db.pool,
      rows.map(({ id }) => id),
    );
    return rows.map((row) => presentDestination(row, activity.get(row.id)));
  }

  async function presentOne(row: DestinationRow) {
    const [found] = await presentMany([row]);
    if (found === undefined) throw new Error("one row makes one delivery");
    return found;
  }
}

function presentDestination(
  row: DestinationRow,
  activity: HookActivity | undefined,
): z.input<typeof contract.Destination> {
  const isEnabled = isOn(row, new Date());
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    host: isChat(row.kind) ? new URL(row.hook_url).host : null,
    folder: row.folder,
    link_people: row.link_people,
    conditions: row.conditions,
    template: row.template,
    user_id: row.created_by,
    enabled: isEnabled,
    disabled_reason: isEnabled ? null : disabledReason(row),
    failing_since: row.failing_since?.toISOString() ?? null,
    pending: activity?.pending ?? 0,
    last_attempt: activity?.started_at
      ? { datetime: activity.started_at.toISOString(), status: activity.status, error: activity.error }
      : null,
    created_datetime: row.inserted_at.toISOString(),
  };
}

function presentAttempt(row: AttemptRow): z.input<typeof contract.DestinationAttempt> {
  return {
    id: row.message_id,
    recording_id: row.recording_id,
    title: row.title,
    state: row.state,
    attempts: row.attempts,
    created_datetime: row.created_at.toISOString(),
    due_datetime: row.state === "pending" ? row.due_at.toISOString() : null,
    last_datetime: row.last_at?.toISOString() ?? null,
    last_status: row.last_status,
    last_error: row.last_error,
    last_response: row.last_response === null ? null : service.beginningOf(row.last_response),
  };
}

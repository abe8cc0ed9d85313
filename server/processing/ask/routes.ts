import * as contract from "../../../contract/ask/ask.ts";
import { sentences } from "../../../contract/sentences.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import { readPage, timeCursor } from "../../platform/http/page.ts";
import { type Api, Ready, route } from "../../platform/http/routing/route.ts";
import { findModelState } from "../intelligence/missing-model.ts";
import * as queries from "./queries.ts";
import { type AskDependencies, ask, refuseWorkspaceToken, threadNotFound } from "./service.ts";

const pageSize = 50;
const cursorFormat = timeCursor("threads");

/** Turns that Get Thread returns: the last ones. */
const maxTurns = 200;

/** Asking, and the threads of the caller. */
export function askRoutes(api: Api, deps: AskDependencies): void {
  const { db } = deps;

  route(
    api,
    contract.ask,
    async ({ principal, body, request }) =>
      new Ready(await ask(deps, principal, request, body), {
        "content-type": "text/event-stream; charset=utf-8",
        // nginx would keep the events until there are many.
        "x-accel-buffering": "no",
      }),
  );

  route(api, contract.getAskState, async ({ principal }) => {
    refuseWorkspaceToken(principal);
    return { status: await findModelState(db.kysely, deps.config, principal.workspaceId) };
  });

  route(api, contract.listThreads, async ({ principal, query }) => {
    refuseWorkspaceToken(principal);
    const { rows, cursor } = await readPage({
      cursor: query.cursor,
      size: pageSize,
      format: cursorFormat,
      fetch: (page) =>
        queries.findThreads(db.kysely, principal.userId, { recordingId: query.recording_id, ...page }),
      positionOf: ({ updated_at: at, id }) => ({ at, id }),
    });
    return { threads: rows.map(present), cursor };
  });

  const find = async (principal: Principal, threadId: string): Promise<queries.ThreadRow> => {
    refuseWorkspaceToken(principal);
    const thread = await queries.findThread(db.kysely, principal.userId, threadId);
    if (thread === undefined) throw threadNotFound(threadId);
    return thread;
  };

  route(api, contract.getThread, async ({ principal, params }) => {
    const thread = await find(principal, params.thread_id);
    const turns = await queries.findTurns(db.kysely, principal, thread.id, maxTurns);
    return {
      ...present(thread),
      turns: turns.map(({ created_at, statements, ...turn }) => ({
        ...turn,
        message: turn.message ?? (turn.state === "failed" ? sentences.ask_interrupted : null),
        statements: [...statements],
        created_datetime: created_at.toISOString(),
      })),
    };
  });

  route(api, contract.updateThread, async ({ principal, params, body }) => {
    refuseWorkspaceToken(principal);
    await queries.renameThread(db.kysely, principal.userId, params.thread_id, body.title);
    return present(await find(principal, params.thread_id));
  });

  route(api, contract.deleteThread, async ({ principal, params }) => {
    refuseWorkspaceToken(principal);
    if (!(await queries.deleteThread(db.kysely, principal.userId, params.thread_id)))
      throw threadNotFound(params.thread_id);
    return { success: true } as const;
  });
}

function present({ id, title, recording_id, created_at, updated_at }: queries.ThreadRow) {
  return {
    id,
    title,
    recording_id,
    created_datetime: created_at.toISOString(),
    updated_datetime: updated_at.toISOString(),
  };
}

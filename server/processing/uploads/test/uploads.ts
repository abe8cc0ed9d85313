import { call, startTestApp, type TestAppOptions } from "../../../../test/support/app.ts";
import { makeWorkspace, sampleTranscript } from "../../../../test/support/factories.ts";
import type { SweepLog } from "../../../platform/jobs/for-each-isolated.ts";

// biome-ignore lint/suspicious/noExplicitAny: inputs here are often wrong on purpose.
export type Input = Record<string, any>;

/** A server with two workspaces, and helpers for the upload tests. */
export async function startUploads(options: TestAppOptions = {}) {
  const app = await startTestApp(options);
  const workspace = await makeWorkspace(app.db);
  const { member } = workspace;
  const stranger = await makeWorkspace(app.db);

  function create(input: Input, token = member.token) {
    return call(app, "POST", "/uploads/create", { media_type: "transcript", ...input }, { token });
  }

  function staged(attributes: Input = {}, token = member.token) {
    return create(
      { auto_promote: false, attributes: { transcript: sampleTranscript, ...attributes } },
      token,
    );
  }

  /** Type and status of an upload's events, in order. */
  async function events(uploadId: string) {
    const rows = await app.db.kysely
      .selectFrom("events")
      .select(["type", "data"])
      .where("subject_id", "=", uploadId)
      .orderBy("id")
      .execute();
    return rows.map((row) => [row.type, (row.data as Record<string, unknown>).status]);
  }

  async function countUploads(): Promise<number> {
    const row = await app.db.kysely
      .selectFrom("uploads")
      .select((eb) => eb.fn.countAll<string>().as("count"))
      .executeTakeFirstOrThrow();
    return Number(row.count);
  }

  return { app, workspace, member, stranger, create, staged, events, countUploads };
}

/** A log that keeps its warnings and errors: their messages, and the objects logged with them. */
export function sweepLog(): { log: SweepLog; lines: string[]; details: Input[] } {
  const lines: string[] = [];
  const details: Input[] = [];
  const note = (detail: unknown, message?: unknown): void => {
    lines.push(String(message ?? detail));
    if (typeof detail === "object") details.push(detail as Input);
  };
  return { log: { info() {}, warn: note, error: note }, lines, details };
}

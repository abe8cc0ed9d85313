import { call, everyVersion, type TestApp } from "../../../../test/support/app.ts";
import { makeUser, type TestUser } from "../../../../test/support/factories.ts";

/** Helpers for tests of recording data, transcript editing and imports. */
export function dataTools(app: TestApp) {
  /** Calls the management API, which has no versions. */
  const manage = (method: string, path: string, token: string | null, body?: unknown) =>
    call(app, method, `/_/api/v1${path}`, body, { token, version: null });

  /** Reads a recording in every version; fails unless all return the same. */
  async function read(recordingId: string, token: string, include: object = {}) {
    const [first, ...others] = await Promise.all(
      everyVersion.map((version) =>
        call(app, "POST", `/recordings/${recordingId}`, { include }, { token, version }),
      ),
    );
    for (const other of others)
      if (other.status !== first?.status || (other.status === 200 && other.text !== first.text))
        throw new Error(`versions differ: ${first?.text} ${other.text}`);
    if (first === undefined) throw new Error("there is no version");
    return first;
  }

  /** The ids that List Recordings returns for a filter. */
  async function list(token: string, filter: object): Promise<string[]> {
    const answer = await call(app, "POST", "/recordings", { filter }, { token });
    return answer.body.recordings.map((recording: { id: string }) => recording.id);
  }

  /** Types of the events of a subject without those of a transcription's progress, in order. */
  async function eventsOf(subjectId: string): Promise<string[]> {
    const rows = await app.db.kysely
      .selectFrom("events")
      .select("type")
      .where("subject_id", "=", subjectId)
      .where("type", "<>", "transcription_updated")
      .orderBy("id")
      .execute();
    return rows.map((row) => row.type);
  }

  async function makeViewer(workspace: { id: string; domain: string }): Promise<TestUser> {
    const user = await makeUser(app.db, workspace);
    await app.db.pool.query("update users set role = 'viewer' where id = $1", [user.id]);
    return user;
  }

  return { manage, read, list, eventsOf, makeViewer };
}

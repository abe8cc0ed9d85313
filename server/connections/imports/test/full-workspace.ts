import { sql } from "kysely";
import { call, type TestApp } from "../../../../test/support/app.ts";
import {
  makeHighlight,
  makeRecording,
  makeTeam,
  makeUser,
  makeWorkspace,
  type TestUser,
  type TestWorkspace,
} from "../../../../test/support/factories.ts";
import { makeMediaRecording } from "../../../../test/support/media-recordings.ts";

/** A workspace whose recordings have everything that a recording can have. */
export interface FullWorkspace extends TestWorkspace {
  readonly colleague: TestUser;
}

/** @param plain how many transcript recordings to add that have little. */
export async function makeFullWorkspace(app: TestApp, plain = 0): Promise<FullWorkspace> {
  const workspace = await makeWorkspace(app.db, "Source");
  const colleague = await makeUser(app.db, workspace, { name: "Colleague" });
  const { member } = workspace;
  const team = await makeTeam(app.db, workspace, [member], "Sales");
  const types = await call(app, "POST", "/meeting_types", {}, { token: member.token });
  const type = types.body.meeting_types.find((one: { name: string }) => one.name === "Sales Call");
  const manage = async (method: string, path: string, body: unknown, token = member.token) => {
    const answer = await call(app, method, `/_/api/v1${path}`, body, { token, version: null });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`);
    return answer.body;
  };
  const participants = [
    { name: "Ada 🚢", email: "ada@else.example", speaker_key: "s1" },
    { name: member.name, email: member.email, speaker_key: "s2" },
  ];
  const { recordingId } = await makeRecording(app, member.token, {
    title: "Renewal <b> & *more*",
    start_datetime: "2021-03-04T05:06:07.089Z",
    participants,
    transcript: {
      language: "de",
      segments: [
        { speaker_key: "s1", start: 0, end: 4000, text: "Guten Morgen.\nWie geht es?" },
        { speaker_key: "s3", start: 3000, end: 3000, text: "Hm." },
        { speaker_key: "s2", start: 4200, end: 9000, text: "Gut & gerne <ja>." },
      ],
    },
  });
  const view = await manage("GET", `/recordings/${recordingId}`, undefined);
  await manage("PATCH", `/recordings/${recordingId}`, {
    source: "zoom",
    share_state: "public",
    tags: ["größe", "b"],
    team_ids: [team.id],
    meeting_type_id: type.id,
    calendar_event: { ical_uid: "u", scheduled_start_datetime: "2021-03-04T05:00:00Z" },
    crm: { crm_company_ids: ["c1"], crm_deal_ids: [] },
    screenshares: [{ start: 1000, end: 2000, participant_id: view.participants[0].id }],
  });
  await manage("PATCH", `/recordings/${recordingId}/participants/${view.participants[0].id}`, {
    crm_contact_id: "k",
    phone: "+49 1",
    observed_join_time: "2021-03-04T05:06:08Z",
    attended: false,
  });
  await makeHighlight(app, colleague.token, recordingId, { tags: ["x"], text: "Look" });
  await manage("PUT", `/recordings/${recordingId}/private_notes`, { text: "Mine *alone*" });
  const comment = (body: object, token?: string) =>
    manage("POST", `/recordings/${recordingId}/comments`, body, token);
  const first = await comment({ text: "@Colleague **see**", timestamp: 1000, mentions: [colleague.id] });
  await comment({ text: "Seen", parent_id: first.id }, colleague.token);
  await manage(
    "PUT",
    `/comments/${first.id}/reactions/${encodeURIComponent("🎉")}`,
    undefined,
    colleague.token,
  );
  await manage("POST", `/comments/${first.id}/resolve`, {}, colleague.token);
  await sql`update recordings set ai_summary = '## Gut', ai_action_items = ${JSON.stringify([
    {
      id: view.participants[0].id,
      status: "completed",
      timestamp: 4200,
      text: "Send it",
      quote: "Gut",
      assignee_id: view.participants[1].id,
    },
  ])}::jsonb, ai_template_sections = ${JSON.stringify([
    { title: "Risks", data: { kind: "bullets", items: ["a"] }, markdown: "- a", text: "a" },
  ])}::jsonb, chapters_by_hand = true, ai_chapters = ${JSON.stringify([
    { title: "Gut & <so>", start: 0, quote: "Gut" },
  ])}::jsonb where id = ${recordingId}`.execute(app.db.kysely);
  await sql`update transcript_segments set word_times = '{0,400,500,900,1000,1200,1300,1500,1600,1700}'
    where recording_id = ${recordingId} and position = 0`.execute(app.db.kysely);
  const other = await makeMediaRecording(app, member.token, {
    title: "Video",
    start_datetime: "2022-01-01T00:00:00Z",
    participants,
    transcript: { language: "en", segments: [{ speaker_key: "s1", start: 0, end: 3000, text: "Seen" }] },
  });
  await call(app, "PUT", `/recordings/${other}/users`, { user_id: colleague.id }, { token: member.token });
  await makeMediaRecording(
    app,
    member.token,
    { title: "Sound", start_datetime: "2022-01-02T00:00:00Z" },
    "good-cbr.mp3",
  );
  for (let index = 0; index < plain; index += 1)
    await makeRecording(app, member.token, { title: `Plain ${index}`, participants });
  return { ...workspace, colleague };
}

/** A workspace elsewhere with the same users, except those that are left out. */
export async function makeTwin(
  app: TestApp,
  source: FullWorkspace,
  users: readonly ("member" | "colleague")[] = ["member", "colleague"],
): Promise<TestWorkspace & { readonly users: Readonly<Record<string, TestUser>> }> {
  const twin = await makeWorkspace(app.db, "Target");
  const made: Record<string, TestUser> = {};
  for (const name of users) {
    const { email, name: fullName } = source[name];
    made[name] = await makeUser(app.db, twin, { email, name: fullName });
  }
  return { ...twin, users: made };
}

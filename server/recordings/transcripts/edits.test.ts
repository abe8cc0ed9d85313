import assert from "node:assert/strict";
import { test } from "node:test";
import { call, startTestApp } from "../../../test/support/app.ts";
import { makeRecording, makeUser, makeWorkspace, unknownId } from "../../../test/support/factories.ts";
import { dataTools } from "../recordings/test/recordings.ts";

const app = await startTestApp();
const { manage, read, eventsOf, makeViewer } = dataTools(app);
const workspace = await makeWorkspace(app.db);
const { admin, member } = workspace;
const viewer = await makeViewer(workspace);
const stranger = await makeWorkspace(app.db);

interface Made {
  readonly id: string;
  readonly ada: string;
  readonly bo: string;
}

/** Ada says the first and the last of three sentences, an unknown speaker the second, Bo nothing. */
async function make(): Promise<Made> {
  const { recordingId: id } = await makeRecording(app, member.token, {
    participants: [{ name: "Ada", speaker_key: "s1" }, { name: "Bo" }],
  });
  const { participants } = (await manage("GET", `/recordings/${id}`, member.token)).body;
  return { id, ada: participants[0].id, bo: participants[1].id };
}

const view = async (id: string, token = member.token) =>
  (await manage("GET", `/recordings/${id}/transcript`, token)).body;
const edit = (id: string, what: string, body: object, token: string | null = member.token) =>
  manage("POST", `/recordings/${id}/transcript/${what}`, token, body);
const textOf = async (id: string, format = "txt") =>
  (await call(app, "GET", `/recordings/${id}/transcript.${format}`, undefined, { token: member.token })).text;
const rowsOf = (id: string) =>
  app.db.pool
    .query(
      "select position, xmin::text as xmin from transcript_segments where recording_id = $1 order by 1",
      [id],
    )
    .then(({ rows }) => rows as { position: number; xmin: string }[]);

test("view: version, speakers and segments, as the contract shows them", async () => {
  const { id, ada } = await make();
  const { transcript_version, language, speakers, segments } = await view(id);
  assert.deepEqual([transcript_version, language], [0, "en"]);
  assert.deepEqual(speakers, [
    { participant_id: ada, name: "Ada", segments: 2, duration_ms: 6900 },
    { participant_id: null, name: "Unknown Speaker 1", segments: 1, duration_ms: 4800 },
  ]);
  const entries = await call(app, "GET", `/recordings/${id}/transcript`, undefined, { token: member.token });
  assert.deepEqual(
    segments.map(({ index: _, is_edited: __, ...entry }: Record<string, unknown>) => entry),
    entries.body,
  );
});

test("correct: only these segments are written; every format shows it, times stay", async () => {
  const { id } = await make();
  assert.match(await textOf(id), /Good morning/);
  const before = await rowsOf(id);
  const shown = (await view(id)).segments;
  const answer = await edit(id, "corrections", {
    transcript_version: 0,
    segments: [{ index: 1, text: "Yes & <no>." }],
  });
  assert.deepEqual(answer.body, { transcript_version: 1, edit: 1, segments_changed: 1 });
  const after = await rowsOf(id);
  assert.deepEqual(
    after.map(({ xmin }, index) => xmin !== before[index]?.xmin),
    [false, true, false],
  );
  const { segments } = await view(id);
  assert.deepEqual(segments[1], { ...shown[1], text: "Yes & <no>.", is_edited: true });
  assert.deepEqual([segments[0], segments[2]], [shown[0], shown[2]]);
  assert.match(await textOf(id), /Unknown Speaker 1: Yes & <no>\.\n/);
  assert.match(
    await textOf(id, "vtt"),
    /00:00:04\.200 --> 00:00:09\.000\n<v Unknown Speaker 1>Yes &amp; &lt;no&gt;\./,
  );
  assert.match(await textOf(id, "srt"), /00:00:04,200 --> 00:00:09,000\nUnknown Speaker 1: Yes & <no>\./);
  assert.deepEqual(await eventsOf(id), ["recording_added", "recording_updated"]);
  assert.equal((await manage("GET", `/recordings/${id}`, member.token)).body.transcript.is_edited, true);
});

test("correct: an unchanged text is no edit and no event; restoring the original clears the edited flag", async () => {
  const { id } = await make();
  const text = (await view(id)).segments[0].text;
  const same = await edit(id, "corrections", { transcript_version: 0, segments: [{ index: 0, text }] });
  assert.deepEqual(same.body, { transcript_version: 0, edit: null, segments_changed: 0 });
  assert.deepEqual(await eventsOf(id), ["recording_added"]);
  await edit(id, "corrections", { transcript_version: 0, segments: [{ index: 0, text: "" }] });
  assert.equal((await view(id)).segments[0].is_edited, true);
  await edit(id, "corrections", { transcript_version: 1, segments: [{ index: 0, text }] });
  assert.equal((await view(id)).segments[0].is_edited, false);
});

test("rename: a speaker without participant, and one with, who is renamed as well", async () => {
  const { id, ada } = await make();
  const first = await edit(id, "speakers/rename", {
    transcript_version: 0,
    speaker: { name: "Unknown Speaker 1" },
    name: " Grace ",
  });
  assert.deepEqual(first.body, { transcript_version: 1, edit: 1, segments_changed: 1 });
  const second = await edit(id, "speakers/rename", {
    transcript_version: 1,
    speaker: { participant_id: ada.toUpperCase() },
    name: "Ada L.",
  });
  assert.deepEqual(second.body, { transcript_version: 2, edit: 2, segments_changed: 2 });
  assert.match(await textOf(id), /^Ada L\.: .*\nGrace: .*\nAda L\.: .*\n$/);
  const { participants } = (await read(id, member.token, { participants: true })).body;
  assert.equal(participants[0].name, "Ada L.");
  const taken = await edit(id, "speakers/rename", {
    transcript_version: 2,
    speaker: { name: "Grace" },
    name: "Grace",
  });
  assert.equal(taken.body.edit, null);
});

test("merge: into a participant, who then counts as heard, and into another speaker", async () => {
  const { id, bo } = await make();
  const merged = await edit(id, "speakers/merge", {
    transcript_version: 0,
    from: [{ name: "Unknown Speaker 1" }],
    into: { participant_id: bo },
  });
  assert.deepEqual(merged.body, { transcript_version: 1, edit: 1, segments_changed: 1 });
  assert.match(await textOf(id), /\nBo: Yes/);
  const heard = async () =>
    (await read(id, member.token, { participants: true })).body.participants[1].confirmed_attendee;
  assert.equal(await heard(), true);
  await edit(id, "undo", { transcript_version: 1 });
  assert.equal(await heard(), false);
  await edit(id, "assignments", { transcript_version: 2, indexes: [0], to: { name: "Grace" } });
  const names = await edit(id, "speakers/merge", {
    transcript_version: 3,
    from: [{ name: "Unknown Speaker 1" }, { name: "Grace" }],
    into: { name: "Grace" },
  });
  assert.equal(names.body.segments_changed, 1);
  assert.match(await textOf(id), /^Grace: .*\nGrace: .*\nAda: .*\n$/);
});

test("assign: a range, a list, to a participant or a new name", async () => {
  const { id, bo } = await make();
  const range = await edit(id, "assignments", {
    transcript_version: 0,
    from_index: 0,
    to_index: 1,
    to: { participant_id: bo },
  });
  assert.deepEqual(range.body, { transcript_version: 1, edit: 1, segments_changed: 2 });
  const list = await edit(id, "assignments", {
    transcript_version: 1,
    indexes: [2, 0, 2],
    to: { name: "Somebody" },
  });
  assert.deepEqual(list.body, { transcript_version: 2, edit: 2, segments_changed: 2 });
  assert.match(await textOf(id), /^Somebody: .*\nBo: .*\nSomebody: .*\n$/);
  const entries = await call(app, "GET", `/recordings/${id}/transcript`, undefined, { token: member.token });
  assert.deepEqual(
    entries.body.map((one: { participant_id: string | null }) => one.participant_id),
    [null, bo, null],
  );
});

test("highlights: only those whose text changed are updated", async () => {
  const { id } = await make();
  const highlight = async (timestamp: number, duration: number): Promise<string> =>
    (await manage("POST", `/recordings/${id}/highlights`, member.token, { text: "H", timestamp, duration }))
      .body.id;
  const inside = await highlight(5000, 1000);
  const touching = await highlight(8999, 1);
  const before = await highlight(0, 4200);
  const after = await highlight(9000, 100);
  await edit(id, "corrections", { transcript_version: 0, segments: [{ index: 1, text: "Aye." }] });
  for (const changed of [inside, touching])
    assert.deepEqual(await eventsOf(changed), ["highlight_added", "highlight_updated"]);
  for (const same of [before, after]) assert.deepEqual(await eventsOf(same), ["highlight_added"]);
  const shown = await manage("GET", `/highlights/${inside}?include=transcript,speakers`, member.token);
  assert.deepEqual(
    [shown.body.transcript, shown.body.speakers],
    ["Unknown Speaker 1: Aye.\n", ["Unknown Speaker 1"]],
  );
});

test("version: returns 409 with the current one, and nothing is changed", async () => {
  const { id, bo } = await make();
  await edit(id, "corrections", { transcript_version: 0, segments: [{ index: 0, text: "One" }] });
  for (const [what, body] of [
    ["corrections", { segments: [{ index: 0, text: "Two" }] }],
    ["speakers/rename", { speaker: { participant_id: bo }, name: "B" }],
    ["speakers/merge", { from: [{ participant_id: bo }], into: { participant_id: bo } }],
    ["assignments", { indexes: [0], to: { name: "N" } }],
    ["undo", {}],
  ] as const) {
    const answer = await edit(id, what, { ...body, transcript_version: 0 });
    assert.deepEqual(
      [answer.status, answer.body.error, answer.body.transcript_version],
      [409, "wrong_state", 1],
    );
    assert.equal((await edit(id, what, body)).status, 400, "without a version");
  }
  assert.equal((await view(id)).segments[0].text, "One");
});

test("two concurrent edits: one succeeds, the other gets the new version", async () => {
  const { id } = await make();
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      edit(id, "corrections", { transcript_version: 0, segments: [{ index: 0, text: `Text ${n}` }] }),
    ),
  );
  const won = answers.filter(({ status }) => status === 200);
  assert.equal(won.length, 1);
  for (const { status, body } of answers)
    if (status !== 200) assert.deepEqual([status, body.transcript_version], [409, 1]);
  assert.deepEqual(await eventsOf(id), ["recording_added", "recording_updated"]);
});

test("all violations are listed: unknown segments, speakers and participants, and invalid references", async () => {
  const { id, ada } = await make();
  const violations = async (what: string, body: object) => {
    const answer = await edit(id, what, { transcript_version: 0, ...body });
    assert.equal(answer.status, 400, answer.text);
    return answer.body.violations.map((one: { pointer: string }) => one.pointer);
  };
  const text = "x";
  assert.deepEqual(
    await violations("corrections", {
      segments: [
        { index: 0, text },
        { index: 3, text },
        { index: 9, text },
      ],
    }),
    ["/segments/1/index", "/segments/2/index"],
  );
  assert.deepEqual(await violations("corrections", { segments: [] }), ["/segments"]);
  assert.deepEqual(
    await violations("corrections", {
      segments: [
        { index: 0, text },
        { index: 0, text },
      ],
    }),
    ["/segments"],
  );
  assert.deepEqual(await violations("assignments", { indexes: [0, 3], to: { name: "N" } }), ["/indexes/1"]);
  assert.deepEqual(await violations("assignments", { from_index: 1, to_index: 3, to: { name: "N" } }), [
    "/to_index",
  ]);
  assert.deepEqual(await violations("assignments", { from_index: 2, to_index: 1, to: { name: "N" } }), [
    "/to_index",
  ]);
  assert.deepEqual(await violations("assignments", { from_index: 1, to: { name: "N" } }), [""]);
  assert.deepEqual(await violations("assignments", { indexes: [0], to: {} }), ["/to"]);
  assert.deepEqual(await violations("assignments", { indexes: [0], to: { participant_id: unknownId() } }), [
    "/to/participant_id",
  ]);
  assert.deepEqual(await violations("speakers/rename", { speaker: { name: "Ada" }, name: "A" }), [
    "/speaker/name",
  ]);
  assert.deepEqual(
    await violations("speakers/rename", { speaker: { participant_id: ada, name: "Ada" }, name: " " }),
    ["/speaker", "/name"],
  );
  assert.deepEqual(
    await violations("speakers/merge", { from: [{ name: "Nobody" }], into: { participant_id: ada } }),
    ["/from/0/name"],
  );
  await edit(id, "assignments", { transcript_version: 0, indexes: [0], to: { name: "Other" } });
  const taken = await edit(id, "speakers/rename", {
    transcript_version: 1,
    speaker: { name: "Other" },
    name: "Unknown Speaker 1",
  });
  assert.deepEqual([taken.status, taken.body.violations[0].pointer], [400, "/name"]);
});

test("permissions: recorders, admins who see it and workspace tokens edit; others who see it read", async () => {
  const { id } = await make();
  const other = await makeUser(app.db, workspace);
  const body = { transcript_version: 0, segments: [{ index: 0, text: "x" }] };
  assert.equal((await edit(id, "corrections", body, other.token)).status, 404);
  assert.equal((await edit(id, "corrections", body, stranger.token)).status, 404);
  assert.equal((await manage("GET", `/recordings/${id}/transcript`, other.token)).status, 404);
  await manage("PATCH", `/recordings/${id}`, member.token, { share_state: "workspace" });
  for (const token of [other.token, viewer.token]) {
    for (const what of ["corrections", "speakers/rename", "speakers/merge", "assignments", "undo"]) {
      const valid = {
        ...body,
        speaker: { name: "x" },
        name: "x",
        from: [{ name: "x" }],
        into: { name: "x" },
        ...(what === "assignments" ? { indexes: [0], to: { name: "x" } } : {}),
      };
      const answer = await edit(id, what, valid, token);
      assert.deepEqual([answer.status, answer.body.error], [403, "forbidden"], what);
    }
    assert.equal((await manage("GET", `/recordings/${id}/transcript`, token)).status, 200);
    assert.equal((await manage("GET", `/recordings/${id}/transcript/edits`, token)).status, 200);
  }
  assert.equal((await edit(id, "corrections", body, null)).status, 401);
  assert.equal((await edit(id, "corrections", body, admin.token)).status, 200);
  const byToken = await edit(
    id,
    "corrections",
    { ...body, transcript_version: 1, segments: [{ index: 1, text: "y" }] },
    workspace.token,
  );
  assert.equal(byToken.status, 200);
  const history = await manage("GET", `/recordings/${id}/transcript/edits`, member.token);
  assert.deepEqual(
    history.body.edits.map((one: { user: { id: string } | null }) => one.user?.id ?? null),
    [null, admin.id],
  );
});

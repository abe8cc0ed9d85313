import assert from "node:assert/strict";
import { test } from "node:test";
import { ActionItem, AiTemplateSection } from "../../../contract/recordings/recordings.ts";
import { everyVersion } from "../../../test/support/app.ts";
import { startIntelligence } from "./test/intelligence.ts";

const t = await startIntelligence();

for (const [position, kind] of ["text", "bullets", "checklist", "table", "question-answer"].entries())
  await t.manage("POST", "/templates", { title: `My ${kind}`, kind, prompt: `All about ${kind}`, position });
const recordingId = await t.make();
await t.done(recordingId);

for (const version of everyVersion) {
  test(`ai_summary: an object with Markdown text and nothing else (${version})`, async () => {
    const { ai_summary } = await t.read(recordingId, { ai_summary: true }, version);
    assert.deepEqual(ai_summary, { text: "- Spoken of: 4 lines." });
  });

  test(`ai_action_items: the time of a segment, the participant, and the user they are (${version})`, async () => {
    const body = await t.read(recordingId, { ai_action_items: true, participants: true }, version);
    const id = (name: string) => body.participants.find((one: { name: string }) => one.name === name).id;
    assert.deepEqual(body.ai_action_items, [
      {
        status: "pending",
        timestamp: 4200,
        text: "Task: I will send the harbour contract to the port on Friday.",
        assignee: { id: id("Ben Bird"), name: "Ben Bird", user_id: t.ben.id },
      },
      {
        status: "pending",
        timestamp: 12_500,
        text: "Task: Good. I will sign it once it is back.",
        assignee: { id: id("Anna Adams"), name: "Anna Adams", user_id: null },
      },
    ]);
    for (const item of body.ai_action_items) ActionItem.parse(item);
  });

  test(`ai_template_sections: every kind as JSON, the default format (${version})`, async () => {
    for (const include of [
      { ai_template_sections: {} },
      { ai_template_sections: { format: "json" } },
      ["ai_template_sections"],
    ]) {
      const { ai_template_sections: sections } = await t.read(recordingId, include, version);
      for (const section of sections) AiTemplateSection.parse(section);
      assert.deepEqual(sections, [
        { title: "My text", data: { kind: "text", text: "- A **text** of the meeting." } },
        { title: "My bullets", data: { kind: "bullets", items: ["One", "Two"] } },
        {
          title: "My checklist",
          data: {
            kind: "checklist",
            items: [
              { text: "Sign", checked: true },
              { text: "Send", checked: false },
            ],
          },
        },
        {
          title: "My table",
          data: { kind: "table", columns: ["Who", "What"], rows: [["Anna", "signs | seals"]] },
        },
        {
          title: "My question-answer",
          data: { kind: "question-answer", items: [{ question: "Who signs?", answer: "Anna." }] },
        },
      ]);
    }
  });

  test(`ai_template_sections: as Markdown and as text (${version})`, async () => {
    const markdown = await t.read(recordingId, { ai_template_sections: { format: "markdown" } }, version);
    assert.deepEqual(
      markdown.ai_template_sections.map((section: { data: unknown }) => section.data),
      [
        { markdown: "- A **text** of the meeting." },
        { markdown: "- One\n- Two" },
        { markdown: "- [x] Sign\n- [ ] Send" },
        { markdown: "| Who | What |\n| --- | --- |\n| Anna | signs \\| seals |" },
        { markdown: "**Who signs?**\n\nAnna." },
      ],
    );
    const text = await t.read(recordingId, { ai_template_sections: { format: "text" } }, version);
    assert.deepEqual(
      text.ai_template_sections.map((section: { data: unknown }) => section.data),
      [
        { text: "- A text of the meeting." },
        { text: "- One\n- Two" },
        { text: "[x] Sign\n[ ] Send" },
        { text: "Who | What\nAnna | signs | seals" },
        { text: "Q: Who signs?\nA: Anna." },
      ],
    );
  });

  test(`ai_template_sections: allowed_sections chooses by title, whatever the case (${version})`, async () => {
    const titles = async (allowed_sections: string[]) =>
      (
        await t.read(recordingId, { ai_template_sections: { allowed_sections } }, version)
      ).ai_template_sections.map((section: { title: string }) => section.title);
    assert.deepEqual(await titles(["MY TABLE", "my text"]), ["My text", "My table"]);
    assert.deepEqual(await titles(["My"]), [], "part of a title is no title");
  });

  test(`ai_template_sections: an empty allowed_sections restricts nothing, and null means absent (${version})`, async () => {
    const everything = await t.read(recordingId, { ai_template_sections: {} }, version);
    assert.equal(everything.ai_template_sections.length, 5);
    for (const ai_template_sections of [
      { allowed_sections: [] },
      { allowed_sections: null },
      { format: null },
      { format: null, allowed_sections: null },
    ])
      assert.deepEqual(await t.read(recordingId, { ai_template_sections }, version), everything);
    const without = await t.read(recordingId, { ai_template_sections: null, highlights: null }, version);
    assert.ok(!("ai_template_sections" in without) && !("highlights" in without));
  });
}

test("without include, a recording has no summary, action items or sections", async () => {
  const body = await t.read(recordingId, {});
  for (const name of ["ai_summary", "ai_action_items", "ai_template_sections"])
    assert.ok(!(name in body), name);
});

test("ai_action_items: names are those of now, and a participant that is gone is nobody", async () => {
  const id = await t.make();
  await t.done(id);
  await t.db.pool.query(
    "update participants set name = 'Anna B. Adams' where recording_id = $1 and name like 'Anna%'",
    [id],
  );
  await t.db.pool.query("delete from participants where recording_id = $1 and name like 'Ben%'", [id]);
  const { ai_action_items } = await t.read(id, { ai_action_items: true });
  assert.deepEqual(
    ai_action_items.map((item: { assignee: { name: string } | null }) => item.assignee?.name ?? null),
    [null, "Anna B. Adams"],
  );
});

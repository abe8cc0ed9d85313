import assert from "node:assert/strict";
import { before, test } from "node:test";
import { chatKinds } from "../../../../contract/deliveries/deliveries.ts";
import {
  fillTemplate,
  type Placeholder,
  placeholderNames,
} from "../../../../contract/deliveries/template.ts";
import { type I18n, i18nFor } from "../../../platform/language/i18n.ts";
import { composeMessage, dateMark, type Message, sampleRecording } from "../content.ts";
import { emailOf } from "../email.ts";
import { chatPayload } from "./chat.ts";

let i18n: I18n;
before(async () => {
  i18n = await i18nFor("en");
});
const url = "https://parley.example/recordings/1";
const message = (text: string, title = "Weekly"): Message => ({
  title,
  url,
  start: "2026-11-28T09:30:00.000Z",
  text,
  i18n,
  timeZone: null,
});
const sample = (hasSummary: boolean): Message =>
  composeMessage({ i18n, timeZone: null }, sampleRecording(i18n, url, hasSummary), url, null);
const payload = (kind: (typeof chatKinds)[number], text: string, title?: string) =>
  JSON.parse(chatPayload(kind, message(text, title)).body);

/** What the services' documentation says of a message; fails for one that a service would refuse. */
const limits = {
  slack(body: { text: string; blocks: { type: string; text: { type: string; text: string } }[] }) {
    assert.ok(body.text.length > 0 && body.blocks.length > 0 && body.blocks.length <= 50);
    for (const { type, text } of body.blocks) {
      assert.deepEqual([type, text.type], ["section", "mrkdwn"]);
      assert.ok(text.text.length > 0 && text.text.length <= 3000, `${text.text.length}`);
    }
  },
  teams(body: { type: string; attachments: { contentType: string; content: Record<string, unknown> }[] }) {
    assert.equal(body.type, "message");
    const [attachment] = body.attachments;
    assert.equal(attachment?.contentType, "application/vnd.microsoft.card.adaptive");
    assert.deepEqual([attachment.content.type, attachment.content.version], ["AdaptiveCard", "1.4"]);
    assert.ok(
      Buffer.byteLength(JSON.stringify(body)) <= 28_000,
      `${Buffer.byteLength(JSON.stringify(body))}`,
    );
  },
  mattermost(body: { text: string }) {
    assert.deepEqual(Object.keys(body), ["text"]);
    assert.ok(body.text.length > 0 && body.text.length <= 16_383);
  },
  discord(body: {
    embeds: { title: string; description?: string; url: string }[];
    allowed_mentions: object;
  }) {
    assert.deepEqual(body.allowed_mentions, { parse: [] });
    const [embed] = body.embeds;
    assert.ok(embed !== undefined && embed.title.length <= 256 && embed.title !== "");
    assert.ok((embed.description ?? "x").length <= 4096 && embed.description !== "");
  },
};

test("each service gets the sample and texts of any length within its published limits, cut at a whole line", () => {
  const long = Array.from({ length: 3000 }, (_, n) => `- Point **${n}** of [the list](${url}?t=${n})`).join(
    "\n",
  );
  const wide = `${"wörd ".repeat(20_000)}[end](${url})`;
  const odd = `${"<&>*_`".repeat(9000)}\n${"x".repeat(30_000)}\n![image](${url})\n[bad](javascript:alert(1))`;
  for (const kind of chatKinds)
    for (const text of [
      ...[true, false].map((hasSummary) => sample(hasSummary).text),
      "",
      "\n\n",
      long,
      wide,
      odd,
    ]) {
      const { body, isCut } = chatPayload(kind, { ...message(text), title: "T".repeat(200) });
      limits[kind](JSON.parse(body));
      assert.equal(isCut, text.length > 5000, `${kind}: ${text.slice(0, 20)}`);
      if (isCut) assert.ok(body.includes("Read more"), kind);
    }
  const { blocks } = payload("slack", long);
  const shown = blocks
    .map(({ text }: { text: { text: string } }) => text.text)
    .join("\n")
    .split("\n");
  const number = (shown.length - 3).toString();
  assert.equal(shown.at(-2), `• Point *${number}* of <${url}?t=${number}|the list>`);
  assert.equal(shown.at(-1), `<${url}|Read more>`);
});

test("Markdown becomes each service's own: headings, emphasis, links, tasks and dates in the reader's time zone", () => {
  const text = `${dateMark} · Ada\n## To do\n- [ ] Call **Bo** <now> & _later_\n- [x] \\*Done\\* [0:12](${url}?t=12)\n@channel me@x.de`;
  const slack = payload("slack", text).blocks.map((block: { text: { text: string } }) => block.text.text);
  assert.deepEqual(slack, [
    `*<${url}|Weekly>*`,
    `<!date^1795858200^{date_short_pretty} {time}|November 28, 2026 at 9:30 AM UTC> · Ada\n*To do*\n☐ Call *Bo* &lt;now&gt; &amp; _later_\n☑ *Done* <${url}?t=12|0:12>\n@channel me@x.de`,
  ]);
  assert.equal(
    payload("mattermost", text).text,
    `#### [Weekly](${url})\nNovember 28, 2026 at 9:30 AM UTC · Ada\n##### To do\n- [ ] Call **Bo** \\<now\\> & _later_\n- [x] \\*Done\\* [0:12](${url}?t=12)\n@\u200Bchannel me@x.de`,
  );
  assert.equal(
    payload("discord", text).embeds[0].description,
    `<t:1795858200:f> · Ada\n### To do\n☐ Call **Bo** \\<now\\> & _later_\n☑ \\*Done\\* [0:12](${url}?t=12)\n@channel me@x.de`,
  );
  const { body } = payload("teams", text).attachments[0].content;
  assert.deepEqual(
    body.map((block: { text: string }) => block.text),
    [
      `[Weekly](${url})`,
      "{{DATE(2026-11-28T09:30:00Z,SHORT)}} {{TIME(2026-11-28T09:30:00Z)}} · Ada",
      "To do",
      "☐ Call **Bo** <now> & _later_",
      `☑ *Done* [0:12](${url}?t=12)`,
      "@channel me@x.de",
    ],
  );
});

test("a template leaves out empty parts, lines and headings, and keeps what its author wrote", () => {
  const values = Object.fromEntries(placeholderNames.map((name) => [name, ""])) as Record<
    Placeholder,
    string
  >;
  const fill = (template: string, some: Partial<Record<Placeholder, string>>): string =>
    fillTemplate(template, { ...values, ...some });
  const template =
    "{date} · {duration} · {people}\n\n{summary}\n\n## Items\n{action_items}\n\n## End\nBye {people}";
  assert.equal(fill(template, { date: "now" }), "now");
  assert.equal(fill(template, { people: "Ada" }), "Ada\n\n## End\nBye Ada");
  assert.equal(
    fill(template, { summary: "A\n\nB", action_items: "- 1\n- 2" }),
    "A\n\nB\n\n## Items\n- 1\n- 2",
  );
  assert.equal(fill("$& {summary}", { summary: "$1 {title}" }), "$& $1 {title}");
});

test("what users wrote can't become markup, a link or a date; without a summary the first lines of the transcript stand for it", () => {
  const recording = {
    id: "1",
    url,
    title: `*Bold* ${dateMark}<@U1>`,
    start_datetime: "2026-11-28T09:30:00.000Z",
    duration_ms: 60_000,
    participants: [],
    tags: [],
    meeting_type: null,
    ai_summary: null,
    ai_action_items: [],
    ai_chapters: [{ title: "[x](https://evil.example) <!channel>", start: 90_000, quote: "" }],
    highlights: [],
    ai_template_sections: [],
    transcript_language: null,
  };
  const composed = composeMessage(
    { i18n, timeZone: null },
    { recording, entries: [] },
    "https://parley.example",
    "{title}\n{chapters}",
  );
  const [head, body] = JSON.parse(chatPayload("slack", composed).body).blocks;
  assert.equal(head.text.text, `*<${url}|*Bold* &lt;@U1&gt;>*`);
  assert.equal(
    body.text.text,
    `*Bold* &lt;@U1&gt;\n• <${url}?t=90|1:30> [x](https://evil.example) &lt;!channel&gt;`,
  );

  const entries = ["Ada", "Grace", "Ada"].map((speaker, index) => ({
    participant_id: null,
    speaker,
    start: index * 1000,
    text: index === 2 ? "word ".repeat(1000) : `*Line* ${index}`,
  }));
  const reader = { i18n, timeZone: null };
  const standard = (summary: string | null, template: string | null = null, lines = entries): string =>
    composeMessage(reader, { recording: { ...recording, ai_summary: summary }, entries: lines }, "", template)
      .text;
  const [, first, second, third = "", more] = standard(null)
    .split("\n")
    .filter((line) => line !== "");
  assert.deepEqual([first, second], ["**Ada:** \\*Line\\* 0", "**Grace:** \\*Line\\* 1"]);
  assert.ok(third.endsWith("…") && third.length < 350, third);
  assert.equal(more, `[Read more](${url})`, "a line was cut");
  assert.doesNotMatch(standard("A summary"), /Line/, "only where there is no summary");

  const many = Array.from({ length: 50 }, (_, index) => ({
    participant_id: null,
    speaker: index % 2 === 0 ? "Ada" : "Grace",
    start: index * 1000,
    text: `Line ${index}`,
  }));
  assert.ok(standard(null, null, many).includes(`Line 4\n[… 45 more lines](${url}?t=5)\n`));
  assert.match(standard(null, null, many.slice(0, 6)), /\[… 1 more line\]/);
  assert.doesNotMatch(standard(null, null, many.slice(0, 5)), /more/, "nothing is left out");
  const old = "## Result\n{summary}\n\n## Next\n{action_items}";
  assert.match(standard(null, old, many), /^## Result\n\*\*Ada:\*\* Line 0\n/, "in the place of the summary");
  assert.equal(standard("A summary", old, many), "## Result\nA summary");
  assert.equal(standard(null, "See {url}", many), `See ${url}`, "only where a summary would be");
});

test("each service links the lines that a message leaves out", () => {
  const more = `**Ada:** Hello\n[… 45 more lines](${url}?t=5)`;
  const link = {
    slack: `<${url}?t=5|… 45 more lines>`,
    teams: `[… 45 more lines](${url}?t=5)`,
    mattermost: `[… 45 more lines](${url}?t=5)`,
    discord: `[… 45 more lines](${url}?t=5)`,
  };
  for (const kind of chatKinds) assert.ok(chatPayload(kind, message(more)).body.includes(link[kind]), kind);
  const mail = emailOf(message(more), "a@x.example");
  assert.match(mail.text, /^… 45 more lines$/m);
  assert.ok(mail.html?.includes(`<a href="${url}?t=5">… 45 more lines</a>`));
});

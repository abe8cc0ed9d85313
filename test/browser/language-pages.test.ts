import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { sentenceOf, sentences } from "../../contract/sentences.ts";
import { call } from "../support/app.ts";
import { readTexts } from "../support/catalog-texts.ts";
import { hasEnglish } from "../support/english-words.ts";
import { insertHook, makeHighlight, makeRecording, makeTeam, makeWorkspace } from "../support/factories.ts";
import { isFullRun } from "../support/full.ts";
import { assertFits } from "./fits.ts";
import { makeMedia } from "./recording-support.ts";
import { desktop, phone, startBrowserApp, visitShared } from "./support.ts";
import { createTour } from "./tour.ts";

// What users wrote is in Greek, so that English words are texts that aren't translated.
const app = await startBrowserApp();
const workspace = await makeWorkspace(app.db, "Θάλασσα");
const { admin, member } = workspace;
await app.db.kysely.updateTable("users").set({ name: "Άννα" }).where("id", "=", admin.id).execute();
await app.db.kysely.updateTable("users").set({ name: "Βίκτωρ" }).where("id", "=", member.id).execute();
await app.db.kysely.updateTable("access_tokens").set({ name: "Γάμμα" }).execute();
const line = (text: string, start: number) => ({ speaker_key: "s1", start, end: start + 2000, text });
const recordingId = await makeMedia(app, admin.token, {
  title: "Λιμάνι",
  transcript: { language: "el", segments: [line("Καλημέρα", 0), line("Η σύμβαση", 3000)] },
  participants: [{ name: "Νίκος", speaker_key: "s1" }],
});
await makeHighlight(app, admin.token, recordingId, { text: "Κοίτα" });
await makeTeam(app.db, workspace, [member], "Ομάδα");
const { recordingId: deletedId } = await makeRecording(app, admin.token, { title: "Κάδος" });
await call(app, "DELETE", `/_/api/v1/recordings/${deletedId}`, undefined, {
  version: null,
  token: admin.token,
});
const hook = await insertHook(app, { workspace_id: workspace.id, created_by: admin.id });

const settings = [
  ...[
    "",
    "/notifications",
    "/tokens",
    "/apps",
    "/users",
    "/provisioning",
    "/teams",
    "/deliveries",
    "/calendars",
  ],
  ...[
    "/webhooks",
    "/clients",
    "/connections",
    "/imports",
    "/audit",
    "/meeting-types",
    "/workspace",
    "/security",
  ],
  ...[
    "/transcription",
    "/language-model",
    "/retention",
    "/holds",
    "/erase-personal-data",
    "/system",
    "/server",
  ],
  ...["/api", "/templates"],
].map((path) => `/settings${path}`);
const paths = [
  ...["/", "/?view=list", "/search?q=Καλημέρα", "/search?q=Τίποτα", `/recordings/${recordingId}`],
  ...[
    `/recordings/${recordingId}/print`,
    "/recordings/none",
    "/uploads",
    "/highlights",
    "/action-items",
    "/ask",
  ],
  ...["/stories", "/trash", ...settings],
];

/** Texts of a page: what it shows, and what screen readers say. Code and what is marked as another language are left out. */
function textsOf(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const found = [document.title];
    const isOwn = (element) => element.closest("script, style, code, pre, [lang]") === document.documentElement;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) if (isOwn(walker.currentNode.parentElement)) found.push(walker.currentNode.data);
    for (const name of ["aria-label", "title", "placeholder", "alt", "aria-description", "aria-roledescription"])
      for (const element of document.querySelectorAll("[" + name + "]"))
        if (isOwn(element)) found.push(element.getAttribute(name));
    return found;
  })()`);
}

async function picture(page: Page, name: string): Promise<void> {
  if (process.env.SCREENSHOTS === undefined) return;
  await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name.replaceAll(/\W+/g, "-")}.png` });
}

/** Enough to see whether pages that run from right to left fit. */
const mainPaths = new Set([
  ...paths.slice(0, 5),
  "/uploads",
  "/highlights",
  "/ask",
  "/stories",
  "/trash",
  ...settings.slice(0, 5),
]);

/** Texts in German are the longest of the offered languages. Those of en-XA are longer still, for languages to come. */
const locales = [
  ["de", "ltr", (await readTexts("de"))("Trash")],
  ...(isFullRun
    ? ([
        ["en-XA", "ltr", "Ţŕášĥ~~"],
        ["ar-XB", "rtl", "\u202eTrash\u202c"],
      ] as const)
    : []),
] as const;

for (const [locale, direction, heading] of locales)
  test(`${locale}, ${direction}: every page fits on laptop and phone${locale === "de" ? ", and has no English words" : ""}`, async () => {
    const { page, leave, complaints } = await visitShared(app, "/trash", { userId: admin.id, locale });
    await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
    await page.getByText("Κάδος").waitFor();
    assert.equal(await page.evaluate("document.documentElement.dir"), direction);
    assert.equal(await page.evaluate("document.documentElement.lang"), locale);
    assert.deepEqual(complaints, []);
    const goTo = createTour(page);
    const found = new Set<string>();
    const look = async (where: string): Promise<void> => {
      for (const text of await textsOf(page)) if (hasEnglish(text)) found.add(`${where}: ${text}`);
    };
    // Every other page is first seen on a phone: resizing takes as long as loading a page.
    let sizes: (typeof desktop | typeof phone)[] = [desktop, phone];
    for (const path of paths) {
      if (locale === "ar-XB" && !mainPaths.has(path)) continue;
      await goTo(path);
      for (const size of sizes) {
        await page.setViewportSize(size);
        await page
          .locator("h1")
          .first()
          .waitFor()
          .catch(async ({ message }: Error) => {
            throw new Error(`${path}: ${message}\n${await page.locator("body").innerText()}`);
          });
        await assertFits(page, `${path} ${size.width}`).catch(({ message }: Error) => found.add(message));
        await picture(page, `${path}-${locale}-${size.width}`);
        if (size !== desktop || locale !== "de") continue;
        await look(path);
        for (const tab of await page.getByRole("tab").all()) {
          await tab.click();
          await page.waitForLoadState("networkidle");
          await look(`${path}, ${await tab.innerText()}`);
        }
      }
      sizes = sizes.toReversed();
    }
    await leave();
    assert.deepEqual([...found], []);
  });

test("de: the dialogs that are opened most have no English words, and fit on laptop and phone", async () => {
  const t = await readTexts("de");
  const { page, leave } = await visitShared(app, "/trash", { userId: admin.id, size: phone, locale: "de" });
  await page.locator("h1").first().waitFor();
  const goTo = createTour(page);
  const recording = `/recordings/${recordingId}`;
  const actions = [t("Recording actions")];
  const of = (english: string, name: string): string => t(english).replace(/\{\w+\}/, name);
  const dialogs: [path: string, names: readonly string[]][] = [
    ["/", [t("New"), t("Record", "verb")]],
    [recording, [t("Share")]],
    ...["Word document or PDF", "Replace transcript", "Delete"].map((name): [string, string[]] => [
      recording,
      [...actions, t(name)],
    ]),
    [`${recording}?tab=details`, [t("Edit details")]],
    [`${recording}?tab=people`, [t("Add person")]],
    ["/settings", [t("Add passkey")]],
    ["/settings/tokens", [t("Create token")]],
    ["/settings/tokens", [of("Revoke {name}", "Γάμμα")]],
    ["/settings/users", [t("Invite user")]],
    ["/settings/users", [of("Actions for {name}", "Βίκτωρ"), t("Deactivate")]],
    ["/settings/webhooks", [t("Create webhook")]],
    ["/settings/deliveries", [t("Create delivery")]],
    ["/settings/calendars", [t("Add calendar")]],
    ["/settings/clients", [t("Create app")]],
    ["/uploads", [t("Join files into one recording")]],
    ["/highlights", [of("Actions for {title}", "Κοίτα"), t("Delete")]],
    [`/settings/webhooks/${hook.id}`, [t("Delete")]],
    ["/settings/teams", [of("Delete {name}", "Ομάδα")]],
    ["/settings/meeting-types", [of("Delete {name}", "Interview")]],
  ];
  const found = new Set<string>();
  // Every other dialog is opened on a laptop, so that each takes one change of size.
  let sizes: (typeof desktop | typeof phone)[] = [phone, desktop];
  for (const [path, names] of dialogs) {
    await goTo(path);
    for (const name of names)
      await page
        .getByRole("button", { name, exact: true })
        .or(page.getByRole("menuitem", { name, exact: true }))
        .first()
        .click();
    const where = `${path}: ${names.join(", ")}`;
    await page.getByRole("dialog").first().waitFor();
    for (const size of sizes) {
      await page.setViewportSize(size);
      await assertFits(page, `${where} ${size.width}`).catch(({ message }: Error) => found.add(message));
      if (size !== desktop) continue;
      await picture(page, where);
      for (const text of await textsOf(page)) if (hasEnglish(text)) found.add(`${where}: ${text}`);
    }
    sizes = sizes.toReversed();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").first().waitFor({ state: "detached" });
  }
  await leave();
  assert.deepEqual([...found], []);
});

test("de: reasons of failures are in German, and what other programs report is marked as English", async () => {
  const { kysely } = app.db;
  const own = { workspace_id: workspace.id, created_by: admin.id };
  const status = "500 Internal Server Error";
  const failing = await insertHook(app, { ...own, failing_since: new Date() });
  const disabled = await insertHook(app, {
    ...own,
    disabled_at: new Date(),
    disabled_reason: sentences.hook_dead,
  });
  await kysely
    .insertInto("deliveries")
    .values({
      ...{ hook_id: failing.id, event_type: "recording_deleted", subject_id: recordingId },
      ...{ state: "pending", due_at: new Date(Date.now() + 86_400_000), attempts: 1 },
      ...{ first_at: new Date(), first_ms: 5, first_status: 500, first_response: "", first_signature: "" },
      first_error: sentenceOf("net_status", { reason: status }),
    })
    .execute();
  const reason = sentenceOf("net_at_host", { host: "calendar.example", reason: sentences.net_refused });
  await kysely
    .insertInto("calendars")
    .values({
      ...{ id: randomUUIDv7(), workspace_id: workspace.id, user_id: admin.id, kind: "ics", name: "Θάλασσα" },
      ...{ host: "calendar.example", secrets: Buffer.from("x"), time_zone: "UTC", failures: 1 },
      ...{ next_read_at: new Date(Date.now() + 86_400_000), failing_since: new Date(), unread_events: 1 },
      problem: sentenceOf("calendar_unreachable", { reason }),
      unread_examples: JSON.stringify([{ title: "Λιμάνι", reason: sentences.event_no_start }]),
    })
    .execute();
  await kysely
    .insertInto("import_runs")
    .values({
      ...{ id: randomUUIDv7(), ...own, source: "grain", origin: "https://grain.example", is_dry_run: false },
      ...{ state: "failed", error: sentences.import_token, finished_at: new Date() },
    })
    .execute();
  const { page, leave } = await visitShared(app, "/trash", { userId: admin.id, locale: "de" });
  await page.locator("h1").first().waitFor();
  const goTo = createTour(page);
  const expected: [path: string, text: string, foreign: readonly string[]][] = [
    [`/settings/webhooks/${failing.id}`, "die Antwort war 500", [status]],
    [`/settings/webhooks/${disabled.id}`, "fünf Tage lang ist jeder Versuch fehlgeschlagen", []],
    ["/settings/calendars", "calendar.example: die Verbindung wurde abgelehnt", []],
    ["/settings/calendars", "er hat keinen Beginn", []],
    ["/settings/imports", "der Dienst lehnt das Token ab", []],
  ];
  for (const [path, text, foreign] of expected) {
    await goTo(path);
    await page.getByText(text).first().waitFor();
    assert.deepEqual((await textsOf(page)).filter(hasEnglish), [], path);
    const english = await page.locator('main [lang="en"]').allInnerTexts();
    assert.deepEqual([...new Set(english)], foreign, path);
  }
  await leave();
});

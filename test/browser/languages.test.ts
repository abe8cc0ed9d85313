import assert from "node:assert/strict";
import { test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { languages, sourceLanguage } from "../../shared/languages.ts";
import { readTexts } from "../support/catalog-texts.ts";
import { makeRecording, makeUser, makeWorkspace, mediaFile } from "../support/factories.ts";
import { isFullRun } from "../support/full.ts";
import { password } from "../support/oauth.ts";
import { cheapHash } from "../support/passwords.ts";
import { until } from "../support/until.ts";
import { animationsEnd, desktop, navigate, phone, startBrowserApp, visitShared } from "./support.ts";

const app = await startBrowserApp();
const workspace = await makeWorkspace(app.db);
const { admin } = workspace;

test("a browser in a language that isn't offered shows English, and says so to screen readers", async () => {
  const { page, leave } = await visitShared(app, "/trash", { userId: admin.id, locale: "nl-NL" });
  await page.getByRole("heading", { level: 1, name: "Trash", exact: true }).waitFor();
  assert.equal(await page.evaluate("document.documentElement.lang"), "en");
  await leave();
});

test("another language is shown without a reload, and what was typed stays; the account has it in every browser", async () => {
  const user = await makeUser(app.db, workspace);
  const { page, context, leave } = await visitShared(app, "/settings", { userId: user.id, locale: "en-XA" });
  const select = (label: string) => page.getByRole("combobox", { name: label, exact: true });
  await select("Ļáñĝúáĝé~~~~").waitFor();
  const name = page.locator("input[autocomplete=name]");
  await page.evaluate("window.isSameDocument = true");
  await name.fill("Half a na");

  await select("Ļáñĝúáĝé~~~~").click();
  await page.getByRole("option", { name: "English", exact: true }).click();
  await select("Language").waitFor();
  await page.getByRole("navigation", { name: "Main", exact: true }).waitFor();
  assert.equal(await page.evaluate("document.documentElement.lang"), "en");
  assert.equal(await name.inputValue(), "Half a na");

  await select("Language").click();
  await page.getByRole("option", { name: "ar-XB", exact: true }).click();
  await select("\u202eLanguage\u202c").waitFor();
  assert.equal(await page.evaluate("document.documentElement.dir"), "rtl");
  assert.equal(await name.inputValue(), "Half a na");
  assert.equal(await page.evaluate("window.isSameDocument"), true);

  // Signed out in this browser, and signed in in another.
  const signedOut = await context.newPage();
  await signedOut.goto(`${app.url}/unsubscribe/none`);
  await signedOut.getByRole("heading", { name: "\u202eThis link doesn't work\u202c", exact: true }).waitFor();
  await leave();
  const other = await visitShared(app, "/trash", { userId: user.id });
  await other.page.getByRole("heading", { level: 1, name: "\u202eTrash\u202c", exact: true }).waitFor();
  await other.leave();
});

test("changed in another browser, the language keeps a comment, a form and an upload as they are, and translates what was said of a file", async () => {
  const t = await readTexts("de");
  const user = await makeUser(app.db, workspace, { role: "admin" });
  const { recordingId: id } = await makeRecording(app, user.token, { title: "Harbour" });
  const { page, leave, complaints } = await visitShared(app, `/recordings/${id}?tab=comments`, {
    userId: user.id,
  });
  const change = async (language: string): Promise<void> => {
    await app.db.kysely.updateTable("users").set({ language }).where("id", "=", user.id).execute();
    // As the app does when its window is shown again.
    await page.evaluate(
      '__TSR_ROUTER__.options.context.queryClient.invalidateQueries({ queryKey: ["session"] })',
    );
    await page.locator(`html[lang=${language}]`).waitFor({ state: "attached" });
  };
  const goTo = (path: string): Promise<void> => navigate(page, path);

  await page.evaluate("window.isSameDocument = true");
  await page.getByRole("textbox", { name: "New comment", exact: true }).fill("Half a com");
  await change("de");
  const comment = page.getByRole("textbox", { name: t("New comment"), exact: true });
  await comment.waitFor();
  assert.equal(await comment.inputValue(), "Half a com");
  await change("en");

  await goTo("/settings/templates");
  await page.getByRole("button", { name: "Create template", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Title", exact: true }).fill("Half a tem");
  await change("de");
  const title = dialog.getByRole("textbox", { name: t("Title"), exact: true });
  await title.waitFor();
  assert.equal(await title.inputValue(), "Half a tem");
  await change("en");
  await dialog.getByRole("textbox", { name: "Title", exact: true }).fill("");
  await page.keyboard.press("Escape");

  await goTo("/uploads");
  const held = Promise.withResolvers<void>();
  await page.route("**/*", async (route) => {
    if (route.request().method() === "PATCH") await held.promise;
    await route.continue();
  });
  const files = page.getByLabel("Choose files to upload");
  await files.setInputFiles({ name: "empty.mp4", mimeType: "video/mp4", buffer: Buffer.alloc(0) });
  await files.setInputFiles(mediaFile("good-faststart.mp4"));
  await page.getByRole("button", { name: "Pause good-faststart.mp4" }).waitFor();
  await page.getByText("This file is empty.").waitFor();
  await change("de");
  await page.getByText(t("This file is empty.")).waitFor();
  held.resolve();
  const upload = page.getByRole("region", { name: t("Your uploads") }).getByRole("listitem");
  await upload.getByText(t("Ready"), { exact: true }).waitFor();
  assert.equal(await page.evaluate("window.isSameDocument"), true);
  assert.deepEqual(complaints, []);
  await leave();
});

test("emails get the browser's time zone, or the one that the account chooses by typing a part of its name", async () => {
  const user = await makeUser(app.db, workspace);
  const { page, leave } = await visitShared(app, "/settings", { userId: user.id, size: phone });
  const zone = async (): Promise<string | null> =>
    (
      await app.db.kysely
        .selectFrom("users")
        .select("email_time_zone")
        .where("id", "=", user.id)
        .executeTakeFirstOrThrow()
    ).email_time_zone;
  await until("the browser's time zone is known", async () => (await zone()) === "UTC");
  const select = page.getByRole("combobox", { name: "Time zone", exact: true });
  await select.click();
  await page.keyboard.type("tokyo");
  await page.getByRole("option", { name: "Asia/Tokyo", exact: true }).click();
  await until("it is chosen", async () => (await zone()) === "Asia/Tokyo");
  await select.blur();
  await select.focus();
  // A moment after the focus, as a user's first key is.
  await page.waitForFunction("document.activeElement.selectionEnd > document.activeElement.selectionStart");
  await page.keyboard.type("same");
  await page.getByRole("option", { name: "Same as the browser", exact: true }).click();
  await until("it is the browser's again", async () => (await zone()) === "UTC");
  await leave();
});

// In Japanese each time, which has letters, punctuation and words unlike English; German has all pages (language-pages.test.ts).
for (const language of isFullRun ? Object.keys(languages).filter((each) => each !== sourceLanguage) : ["ja"])
  test(`${language}: sign in, upload, watch, search, share, comment, and change the language`, async () => {
    const t = await readTexts(language);
    const user = await makeUser(app.db, workspace, { name: "Zoe Last" });
    await app.db.pool.query("update users set password_hash = $1 where id = $2", [
      await cheapHash(password),
      user.id,
    ]);
    const { page, leave, complaints } = await visitShared(app, "/sign-in", { locale: language });
    const press = (name: string, within: Page | Locator = page): Promise<void> =>
      within.getByRole("button", { name, exact: true }).click();
    const picture = async (name: string): Promise<void> => {
      if (process.env.SCREENSHOTS === undefined) return;
      for (const [size, colorScheme] of [
        [phone, "dark"],
        [desktop, "light"],
      ] as const) {
        await page.setViewportSize(size);
        await page.emulateMedia({ colorScheme });
        await animationsEnd(page);
        await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}-${language}-${size.width}.png` });
      }
    };

    await picture("sign-in");
    await page.getByLabel(t("Email"), { exact: true }).fill(user.email);
    await page.getByLabel(t("Password"), { exact: true }).fill(password);
    await press(t("Sign in"));
    await page.getByRole("heading", { level: 1, name: t("Library"), exact: true }).waitFor();
    await picture("library");

    await page
      .getByRole("link", { name: t("Uploads"), exact: true })
      .first()
      .click();
    await page.getByLabel(t("Choose files to upload")).setInputFiles(mediaFile("good-faststart.mp4"));
    const upload = page.getByRole("region", { name: t("Your uploads") }).getByRole("listitem");
    await upload.getByText(t("Ready"), { exact: true }).waitFor();
    await picture("uploads");

    const search = page.getByLabel(t("Search recordings and transcripts"), { exact: true });
    await search.fill("faststart");
    await search.press("Enter");
    const results = page.getByRole("list", { name: t("Results"), exact: true });
    await results.waitFor();
    await picture("search");
    await results.getByRole("link", { name: "good-faststart" }).first().click();
    await page.getByRole("heading", { level: 1, name: "good-faststart" }).waitFor();
    await press(t("Play"));
    await until("it plays", () => page.evaluate<boolean>("document.querySelector('video').currentTime > 0"));

    await press(t("Share"));
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("combobox", { name: t("People"), exact: true }).click();
    await page.getByRole("option", { name: admin.name }).click();
    await dialog.getByText(admin.email).waitFor();
    await picture("share");
    await press(t("Done"), dialog);
    await dialog.waitFor({ state: "detached" });

    await page.getByRole("tab", { name: t("Comments"), exact: true }).click();
    await page.getByRole("textbox", { name: t("New comment"), exact: true }).fill("Καλημέρα");
    await press(t("Comment", "verb"));
    await page.getByRole("article").getByText("Καλημέρα").waitFor();
    await picture("comments");

    await navigate(page, "/settings");
    const choose = async (label: string, option: string): Promise<void> => {
      await page.getByRole("combobox", { name: label, exact: true }).click();
      await page.getByRole("option", { name: option, exact: true }).click();
    };
    await choose(t("Language"), "English");
    await choose("Language", languages[language as keyof typeof languages]);
    await page.getByRole("combobox", { name: t("Language"), exact: true }).waitFor();
    await picture("settings");
    assert.deepEqual(complaints, []);
    await leave();
  });

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { startMailServer } from "../../server/people/accounts/test/mail.ts";
import { clientSecret, startProvider } from "../../server/people/accounts/test/provider.ts";
import { makeWorkspace } from "../support/factories.ts";
import { assertAccessible, phone, resize, startBrowserApp, visitShared } from "./support.ts";

const mail = await startMailServer();
after(() => mail.close());
const app = await startBrowserApp({ worker: false, env: { PARLEY_LLM_MODEL: "from-env" } });
const provider = await startProvider(0, app.url);
after(() => provider.close());
const operator = await makeWorkspace(app.db, "Tidewater");

/** The mail server that the running server uses. */
const providersNow = () => app.config.signInProviders;
const urlOf = (): string | null => app.config.smtp?.url ?? null;

test("server settings: mail is tried, saved without a restart and undone; errors are beside their field", async () => {
  const { page, complaints } = await visitShared(app, "/settings", { userId: operator.admin.id });
  await page.getByRole("navigation", { name: "Settings" }).getByText("Server settings").click();
  const form = page.getByRole("form", { name: "Mail", exact: true });
  await form.getByLabel("SMTP URL").fill(mail.url);
  // A setting without a label shows its variable; one without the app's own help, the server's English.
  assert.equal(await page.getByLabel(/^PARLEY_/).count(), 0);
  assert.deepEqual(await page.locator("main [lang=en]").allTextContents(), []);
  await form.getByRole("button", { name: "Save changes" }).click();
  await form.getByText("Must be set together with SMTP URL").waitFor();
  await form.getByLabel("SMTP from").fill("parley@w.example");
  await form.getByRole("button", { name: "Send test email" }).click();
  await form.getByText(/accepted an email to/).waitFor();
  assert.equal(urlOf(), null);
  if (process.env.SCREENSHOTS)
    await page.screenshot({ path: `${process.env.SCREENSHOTS}/server-settings.png` });
  await form.getByRole("button", { name: "Save changes" }).click();
  await page.getByText("Settings saved").waitFor();
  assert.equal(urlOf(), mail.url);
  const model = page.getByRole("form", { name: "Language model" });
  await model.getByText(/Set by PARLEY_LLM_MODEL/).waitFor();
  assert.ok(await model.getByLabel("LLM model").isDisabled());
  await assertAccessible(page);
  await page.getByRole("list", { name: "Latest changes" }).getByRole("button", { name: "Undo" }).click();
  await page.getByText("Change undone").waitFor();
  assert.equal(urlOf(), null);

  await page.setViewportSize(phone);
  await page.emulateMedia({ colorScheme: "dark" });
  await form.waitFor();
  await assertAccessible(page);
  assert.ok(
    await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
  );
  if (process.env.SCREENSHOTS)
    await page.screenshot({ path: `${process.env.SCREENSHOTS}/server-settings-phone.png` });
  // The refused save is a response with status 400.
  assert.deepEqual(
    complaints.filter((text) => !text.includes("400")),
    [],
  );
});

test("sign-in providers: one is tried, added, changed without its secret and removed; errors are at their field", async () => {
  const { page, context, complaints } = await visitShared(app, "/settings/server#sign-in", {
    userId: operator.admin.id,
  });
  const signIn = page.getByRole("region", { name: "Sign-in", exact: true });
  await signIn.getByText("No providers yet.").waitFor();
  assert.equal(await signIn.getByLabel(/OIDC/).count(), 0);
  await signIn.getByRole("button", { name: "Add provider", exact: true }).click();
  const added = page.getByRole("dialog", { name: "Add provider", exact: true });
  const field = (label: string) =>
    added.getByRole(tagFields.has(label) ? "combobox" : "textbox", { name: label, exact: true });
  await field("Name").fill("Example ID");
  assert.equal(await field("Redirect URL").inputValue(), `${app.url}/sign-in/callback/example-id`);
  await field("ID").fill("default");
  assert.equal(await field("Redirect URL").inputValue(), `${app.url}/sign-in/callback`);
  assert.equal(
    await field("Back-channel logout URL").inputValue(),
    `${app.url}/sign-in/back-channel-logout/default`,
  );
  await field("Issuer").fill("http://id.example");
  await field("Client ID").fill("parley");
  await field("Client secret").fill(clientSecret);
  await field("Allowed domains").fill("no domain,");
  await added.getByRole("button", { name: "Add group mapping", exact: true }).click();
  await field("Group").fill("sales");
  await field("Teams").fill("Sales");
  await added.getByRole("combobox", { name: "Role", exact: true }).selectOption("Viewer");
  const isAbout = async (label: string, text: RegExp) =>
    assert.match((await page.locator(`[id="${await errorId(field(label))}"]`).textContent()) ?? "", text);
  await added.getByRole("button", { name: "Try a sign-in", exact: true }).click();
  await added.getByText(/Must be a domain/).waitFor();
  await isAbout("Allowed domains", /^Entry 1: Must be a domain/);
  await field("Allowed domains").press("Backspace");
  await added.getByRole("button", { name: "Add provider", exact: true }).click();
  await added.getByText(/must be the https URL/i).waitFor();
  await isAbout("Issuer", /https URL/i);
  await isAbout("Groups claim", /claim that lists the groups/);
  assert.deepEqual(providersNow(), []);
  await field("Issuer").fill(provider.issuer);
  await field("Groups claim").fill("groups");
  const tried = context.waitForEvent("page");
  await added.getByRole("button", { name: "Try a sign-in", exact: true }).click();
  await (await tried).waitForURL(`${provider.issuer}/**`);
  await page.bringToFront();
  await assertAccessible(page);
  await added.getByRole("button", { name: "Add provider", exact: true }).click();
  await page.getByText("Provider added.", { exact: true }).waitFor();
  const [saved] = providersNow();
  assert.deepEqual(
    { ...saved },
    {
      ...{ id: "default", name: "Example ID", issuer: provider.issuer, clientId: "parley", clientSecret },
      ...{ scopes: [], allowedDomains: [], createUsers: false, trustEmail: false, groupsClaim: "groups" },
      groups: [{ group: "sales", teams: ["Sales"], role: "viewer" }],
    },
  );
  await shot(page, "providers");

  await signIn.getByRole("button", { name: "Change Example ID", exact: true }).click();
  const changed = page.getByRole("dialog", { name: "Example ID", exact: true });
  assert.equal(await changed.getByRole("textbox", { name: "ID", exact: true }).count(), 0);
  assert.ok(!(await page.content()).includes(clientSecret));
  await shot(page, "provider-form");
  if (process.env.SCREENSHOTS) await changed.getByRole("button", { name: "Save" }).scrollIntoViewIfNeeded();
  await shot(page, "provider-form-end");
  await changed.getByRole("textbox", { name: "Name", exact: true }).fill("Other ID");
  await changed.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Provider saved.", { exact: true }).waitFor();
  assert.deepEqual(providersNow(), [{ ...saved, name: "Other ID" }]);

  // A second one can't take the ID of the first.
  await signIn.getByRole("button", { name: "Add provider", exact: true }).click();
  await field("Name").fill("Default");
  await added.getByText("Other ID has this ID; choose another one", { exact: true }).waitFor();
  assert.ok(await added.getByRole("button", { name: "Add provider", exact: true }).isDisabled());
  await added.getByRole("button", { name: "Cancel", exact: true }).click();

  const again = context.waitForEvent("page");
  await signIn.getByRole("button", { name: "Try a sign-in with Other ID", exact: true }).click();
  await (await again).waitForURL(`${provider.issuer}/**`);
  await page.bringToFront();
  await resize(page, phone);
  await page.emulateMedia({ colorScheme: "dark" });
  await signIn.getByRole("button", { name: "Change Other ID", exact: true }).waitFor();
  await shot(page, "providers-phone");
  await signIn.getByRole("button", { name: "Change Other ID", exact: true }).click();
  const small = page.getByRole("dialog", { name: "Other ID", exact: true });
  await small.waitFor();
  await assertAccessible(page);
  await shot(page, "provider-form-phone");
  if (process.env.SCREENSHOTS) await small.getByRole("button", { name: "Save" }).scrollIntoViewIfNeeded();
  await shot(page, "provider-form-phone-end");
  await small.getByRole("button", { name: "Cancel", exact: true }).click();

  await signIn.getByRole("button", { name: "Remove Other ID", exact: true }).click();
  await page.getByRole("button", { name: "Remove provider", exact: true }).click();
  await page.getByText("Provider removed.", { exact: true }).waitFor();
  await signIn.getByText("No providers yet.").waitFor();
  assert.deepEqual(providersNow(), []);
  assert.deepEqual(
    complaints.filter((text) => !text.includes("400")),
    [],
  );
});

test("sign-in providers that the environment sets are shown and can't be changed", async () => {
  const locked = await startBrowserApp({
    worker: false,
    env: {
      PARLEY_OIDC_PROVIDERS: JSON.stringify([
        { id: "staff", name: "Staff ID", issuer: provider.issuer, client_id: "parley", client_secret: "x" },
      ]),
    },
  });
  const { admin } = await makeWorkspace(locked.db, "Tidewater");
  const { page, complaints } = await visitShared(locked, "/settings/server#sign-in", { userId: admin.id });
  const signIn = page.getByRole("region", { name: "Sign-in", exact: true });
  await signIn.getByText(/Set by PARLEY_OIDC_PROVIDERS/).waitFor();
  const row = signIn
    .getByRole("list", { name: "Providers", exact: true })
    .getByRole("listitem")
    .filter({ hasText: "Staff ID" });
  await row.getByText("Set by the environment", { exact: true }).waitFor();
  assert.deepEqual(await row.getByRole("button").allTextContents(), ["Try a sign-in", "Show URLs"]);
  assert.equal(await signIn.getByRole("button", { name: "Add provider", exact: true }).count(), 0);
  await shot(page, "providers-locked");
  await row.getByRole("button", { name: "Show URLs of Staff ID", exact: true }).click();
  assert.equal(
    await page.getByRole("textbox", { name: "Redirect URL", exact: true }).inputValue(),
    `${locked.url}/sign-in/callback/staff`,
  );
  assert.deepEqual(complaints, []);
});

const tagFields: ReadonlySet<string> = new Set(["Allowed domains", "Teams"]);

/** The ID of the error that a field names. */
async function errorId(field: Locator): Promise<string> {
  const ids = ((await field.getAttribute("aria-describedby")) ?? "").split(" ");
  return ids.find((id) => id.endsWith("-error")) ?? "";
}

async function shot(page: Page, name: string): Promise<void> {
  if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}.png` });
}

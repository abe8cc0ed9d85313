import assert from "node:assert/strict";
import { after, test } from "node:test";
import { startMailServer } from "../../server/people/accounts/test/mail.ts";
import { clientSecret, startProvider } from "../../server/people/accounts/test/provider.ts";
import { makeWorkspace } from "../support/factories.ts";
import { assertAccessible, phone, startBrowserApp, visit } from "./support.ts";

const mail = await startMailServer();
after(() => mail.close());
const app = await startBrowserApp({ worker: false, env: { PARLEY_LLM_MODEL: "from-env" } });
const provider = await startProvider(0, app.url);
after(() => provider.close());
const operator = await makeWorkspace(app.db, "Tidewater");

/** The mail server that the running server uses. */
const urlOf = (): string | null => app.config.smtp?.url ?? null;

test("server settings: mail is tried, saved without a restart and undone; errors are beside their field", async () => {
  const { page, complaints } = await visit(app, "/settings", { userId: operator.admin.id });
  await page.getByRole("navigation", { name: "Settings" }).getByText("Server settings").click();
  const form = page.getByRole("form", { name: "Mail", exact: true });
  await form.getByLabel("SMTP URL").fill(mail.url);
  await form.getByRole("button", { name: "Save changes" }).click();
  await form.getByText("Must be set together with PARLEY_SMTP_URL").waitFor();
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

  const signIn = page.getByRole("form", { name: "Sign-in" });
  await signIn.getByLabel("OIDC issuer").fill(provider.issuer);
  await signIn.getByLabel("OIDC client ID").fill("parley");
  await signIn.getByLabel("OIDC client secret").fill(clientSecret);
  const opened = page.context().waitForEvent("page");
  await signIn.getByRole("button", { name: "Try a sign-in" }).click();
  await (await opened).waitForURL(`${provider.issuer}/**`);

  const { page: small, complaints: others } = await visit(app, "/settings/server", {
    userId: operator.admin.id,
    size: phone,
    colorScheme: "dark",
  });
  await small.getByRole("form", { name: "Mail", exact: true }).waitFor();
  await assertAccessible(small);
  assert.ok(
    await small.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
  );
  if (process.env.SCREENSHOTS)
    await small.screenshot({ path: `${process.env.SCREENSHOTS}/server-settings-phone.png` });
  // The refused save is a response with status 400.
  assert.deepEqual(
    [...complaints, ...others].filter((text) => !text.includes("400")),
    [],
  );
});

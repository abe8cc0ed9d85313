import assert from "node:assert/strict";
import { test } from "node:test";
import { makeWorkspace } from "../support/factories.ts";
import { makeMedia } from "./recording-support.ts";
import { startBrowserApp, visit } from "./support.ts";

const app = await startBrowserApp();

/** Compressed, with headers, of all scripts a page loads: 252 kB, and 8 kB for texts in several languages. */
const maxScriptBytes = 260_000;

/** On a slow machine, what a page loads once it has had time to appear would count too. */
const withoutLateParts =
  "const later = setTimeout; window.setTimeout = (run, ms, ...rest) => (ms >= 2000 ? 0 : later(run, ms, ...rest));";

test("the library and the recording page load less than 260 kB of script each", async () => {
  const { member } = await makeWorkspace(app.db);
  const id = await makeMedia(app, member.token);
  for (const [path, whole] of [
    ["/", "[aria-label=Recordings] [role=listitem]"],
    [`/recordings/${id}`, "ol[aria-label=Transcript] li"],
  ] as const) {
    const { page, context } = await visit(app, "/icon.svg", { userId: member.id });
    await context.addInitScript(withoutLateParts);
    const devtools = await context.newCDPSession(page);
    await devtools.send("Network.enable");
    const scripts = new Set<string>();
    let bytes = 0;
    devtools.on("Network.requestWillBeSent", ({ requestId, type }) => {
      if (type === "Script") scripts.add(requestId);
    });
    devtools.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
      if (scripts.has(requestId)) bytes += encodedDataLength;
    });
    await page.goto(app.url + path);
    await page.locator(whole).first().waitFor();
    await page.waitForLoadState("networkidle");
    assert.ok(bytes > 50_000 && bytes < maxScriptBytes, `${path}: ${bytes} bytes of script`);
    await context.close();
  }
});

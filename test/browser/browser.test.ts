import assert from "node:assert/strict";
import { readlinkSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { chromiumFolder, launchChromium } from "../support/chromium.ts";

test("the browser is the one from npm, outlives its first context and enforces web security", async (t) => {
  const browser = await launchChromium();
  t.after(() => browser.close());
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  const main = processInfo.find(({ type }) => type === "browser");
  assert.equal(readlinkSync(`/proc/${main?.id}/exe`), `${await chromiumFolder()}/chromium`);

  for (let n = 0; n < 3; n += 1) {
    const context = await browser.newContext();
    const page = await context.newPage();
    assert.equal(await page.evaluate("1 + 1"), 2);
    await context.close();
  }

  const server = createServer((_, response) => response.end("page")).listen(0);
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${port}/`);
  const read = page.evaluate(`fetch("http://localhost:${port}/").then((response) => response.text())`);
  await assert.rejects(read, /Failed to fetch/);
});

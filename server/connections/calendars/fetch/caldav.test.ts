import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { call, startTestApp } from "../../../../test/support/app.ts";
import { makeWorkspace } from "../../../../test/support/factories.ts";
import { freePort } from "../../../../test/support/port.ts";
import { skipWithout } from "../../../../test/support/programs.ts";
import { until } from "../../../../test/support/until.ts";

const skip = skipWithout("radicale");
const app = await startTestApp({ env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" } });
const { member } = await makeWorkspace(app.db);

/** A real CalDAV server with an account. */
async function startRadicale(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "parley-radicale-"));
  const port = await freePort();
  writeFileSync(join(folder, "users"), "ann:app-password\n");
  const config = [
    `[server]\nhosts = 127.0.0.1:${port}`,
    `[auth]\ntype = htpasswd\nhtpasswd_filename = ${join(folder, "users")}\nhtpasswd_encryption = plain\ndelay = 0`,
    `[storage]\nfilesystem_folder = ${join(folder, "data")}\n`,
  ].join("\n");
  writeFileSync(join(folder, "config"), config);
  const server = spawn("radicale", ["--config", join(folder, "config")], { stdio: "ignore" });
  after(() => {
    server.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  const url = `http://127.0.0.1:${port}`;
  await until("Radicale responds", () =>
    fetch(url).then(
      () => true,
      () => undefined,
    ),
  );
  return url;
}

test("CalDAV: an account's calendars are discovered, a wrong password is refused, and one is read without its old events", {
  skip,
}, async () => {
  const url = await startRadicale();
  const authorization = `Basic ${Buffer.from("ann:app-password").toString("base64")}`;
  const put = async (method: string, path: string, body: string, type: string) => {
    const response = await fetch(`${url}${path}`, {
      method,
      body,
      headers: { authorization, "content-type": type },
    });
    assert.ok(response.ok, `${method} ${path}: ${response.status}`);
  };
  const create = (path: string, name: string, component: string) =>
    put(
      "MKCALENDAR",
      path,
      `<?xml version="1.0"?><c:mkcalendar xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><d:set><d:prop><d:displayname>${name}</d:displayname><c:supported-calendar-component-set><c:comp name="${component}"/></c:supported-calendar-component-set></d:prop></d:set></c:mkcalendar>`,
      "application/xml",
    );
  await create("/ann/office/", "Work", "VEVENT");
  await create("/ann/home/", "Home", "VEVENT");
  await create("/ann/tasks/", "Tasks", "VTODO");
  const start = new Date(Date.now() + 60_000).toISOString().replace(/[-:]|\.\d+/g, "");
  const event = (uid: string, at: string) =>
    [
      "BEGIN:VCALENDAR",
      "VERSION:2.0",
      "PRODID:-//T//EN",
      "BEGIN:VEVENT",
      `UID:${uid}`,
      "DTSTAMP:20260101T000000Z",
      `DTSTART:${at}`,
      "DURATION:PT1H",
      `SUMMARY:${uid}`,
      "END:VEVENT",
      "END:VCALENDAR",
      "",
    ].join("\r\n");
  await put("PUT", "/ann/office/one.ics", event("one", start), "text/calendar");
  await put("PUT", "/ann/office/old.ics", event("old", "20200101T100000Z"), "text/calendar");

  const manage = (method: string, path: string, body?: unknown) =>
    call(app, method, `/_/api/v1${path}`, body, { token: member.token, version: null });
  const account = { username: "ann", password: "app-password" };
  const found = await manage("POST", "/calendars/discover", { url, ...account });
  assert.equal(found.status, 200, found.text);
  const names = found.body.calendars.map((one: { name: string }) => one.name).sort();
  assert.deepEqual(names, ["Home", "Work"]);

  const wrong = await manage("POST", "/calendars", {
    kind: "caldav",
    url,
    username: "ann",
    password: "wrong",
  });
  assert.equal(wrong.status, 400);
  assert.match(wrong.text, /app password/);
  const several = await manage("POST", "/calendars", { kind: "caldav", url, ...account });
  assert.match(several.text, /2 calendars/);
  const work = found.body.calendars.find((one: { name: string }) => one.name === "Work");
  const added = await manage("POST", "/calendars", { kind: "caldav", url: work.url, ...account });
  assert.equal(added.status, 200, added.text);
  assert.deepEqual([added.body.name, added.body.events, added.body.username], ["Work", 1, "ann"]);
  assert.ok(!added.text.includes("app-password"));
});

test("CalDAV: a calendar without a name is named by its path, also where that is encoded wrongly", async () => {
  const calendar = (path: string) =>
    `<d:response><d:href>${path}</d:href><d:propstat><d:prop><d:resourcetype><c:calendar/></d:resourcetype></d:prop></d:propstat></d:response>`;
  const server = createServer((_request, response) => {
    response.writeHead(207, { "content-type": "application/xml" });
    response.end(
      `<d:multistatus xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav">${calendar("/100%/")}${calendar("/caf%C3%A9/")}</d:multistatus>`,
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => server.close());
  const { status, body } = await call(
    app,
    "POST",
    "/_/api/v1/calendars/discover",
    {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      ...{ username: "ann", password: "app-password", allow_http: true },
    },
    { token: member.token, version: null },
  );
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(
    body.calendars.map((one: { name: string }) => one.name),
    ["/100%/", "/café/"],
  );
});

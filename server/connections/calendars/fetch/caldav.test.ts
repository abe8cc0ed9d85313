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
import { createLog } from "../../../platform/log.ts";
import { readDueCalendars } from "../refresh.ts";

const skip = skipWithout("radicale");
const app = await startTestApp({ env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" } });
const { member } = await makeWorkspace(app.db);

const stamp = (at: Date): string => at.toISOString().replace(/[-:]|\.\d+/g, "");

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
      ...(body === "" ? {} : { body }),
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
  const start = stamp(new Date(Date.now() + 60_000));
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

  // Moved and renamed, then deleted, on the server.
  const read = async () => {
    await app.db.pool.query("update calendars set next_read_at = now() - interval '1 second'");
    const { db, jobs, encryptor, config } = app;
    const signal = new AbortController().signal;
    await readDueCalendars({ db, jobs, encryptor, config, log: createLog("silent"), signal });
    const { rows } = await app.db.pool.query(
      "select id, title, start_at from calendar_events where calendar_id = $1",
      [added.body.id],
    );
    return rows;
  };
  const [before] = await read();
  assert.equal(before.title, "one");
  const later = new Date(Date.now() + 7_200_000);
  const moved = event("one", stamp(later)).replace("SUMMARY:one", "SUMMARY:Renamed");
  await put("PUT", "/ann/office/one.ics", moved, "text/calendar");
  const [after] = await read();
  assert.deepEqual([after.id, after.title], [before.id, "Renamed"]);
  assert.equal(after.start_at.toISOString().slice(0, 19), later.toISOString().slice(0, 19));
  await put("DELETE", "/ann/office/one.ics", "", "text/calendar");
  assert.deepEqual(await read(), []);
});

test("CalDAV: an unchanged tag is one small request, a sync-token counts where there is no ctag, and 429 is obeyed", async () => {
  const asked: string[] = [];
  const state = { tag: "<s:getctag>1</s:getctag>", status: 207, retryAfter: "" };
  const server = createServer((request, response) => {
    asked.push(request.method ?? "");
    response.writeHead(state.status, {
      "content-type": "application/xml",
      ...(state.retryAfter === "" ? {} : { "retry-after": state.retryAfter }),
    });
    const properties =
      request.method === "REPORT"
        ? `<c:calendar-data>BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:a\r\nDTSTART:${stamp(new Date())}\r\nSUMMARY:A &amp; B\r\nEND:VEVENT\r\nEND:VCALENDAR</c:calendar-data>`
        : `<d:resourcetype><d:collection/><c:calendar/></d:resourcetype><d:displayname>Peer</d:displayname>${state.tag}`;
    response.end(
      `<d:multistatus xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav" xmlns:s="http://calendarserver.org/ns/"><d:response><d:href>/office/</d:href><d:propstat><d:prop>${properties}</d:prop></d:propstat></d:response></d:multistatus>`,
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => server.close());
  const workspace = await makeWorkspace(app.db);
  const manage = (method: string, path: string, body?: unknown) =>
    call(app, method, `/_/api/v1${path}`, body, { token: workspace.member.token, version: null });
  const added = await manage("POST", "/calendars", {
    ...{ kind: "caldav", url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/office/` },
    ...{ username: "ann", password: "app-password", allow_http: true },
  });
  assert.equal(added.status, 200, added.text);
  assert.equal(added.body.events, 1);
  const read = async () => {
    asked.length = 0;
    await app.db.pool.query(
      "update calendars set next_read_at = case when id = $1 then now() - interval '1 second' else 'infinity' end",
      [added.body.id],
    );
    const { db, jobs, encryptor, config } = app;
    const signal = new AbortController().signal;
    await readDueCalendars({ db, jobs, encryptor, config, log: createLog("silent"), signal });
    return (await manage("GET", "/calendars")).body.calendars[0];
  };
  await read();
  assert.deepEqual(asked, ["PROPFIND"]);
  state.tag = "<d:sync-token>http://example/2</d:sync-token>";
  await read();
  assert.deepEqual(asked, ["PROPFIND", "REPORT"]);
  await read();
  assert.deepEqual(asked, ["PROPFIND"]);
  Object.assign(state, { status: 429, retryAfter: "7200" });
  const waiting = await read();
  assert.deepEqual([waiting.state, asked, waiting.events], ["waiting", ["PROPFIND"], 1]);
  const waitMs = Date.parse(waiting.next_read_datetime) - Date.now();
  assert.ok(waitMs > 7_100_000 && waitMs < 7_400_000, `waits ${waitMs} ms`);
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

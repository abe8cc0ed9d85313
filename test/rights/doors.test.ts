import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { clientSecret, startProvider } from "../../server/accounts/testing-provider.ts";
import { currentVersion, startTestApp } from "../support/app.ts";
import { startHookReceiver } from "../support/hook-receiver.ts";
import { type DoorCaller, type DoorOutcome, doorCallers } from "./callers.ts";
import type { DoorAsk } from "./door-ask.ts";
import { doors } from "./doors.ts";
import { linkRequests } from "./link-requests.ts";
import { bucketToken, pageRequests, plainRequest } from "./page-requests.ts";
import { makePeople } from "./people.ts";
import { publicLinkDoorRequests } from "./public-links.ts";
import { watchRoutes } from "./served.ts";
import { makeWorld, marker } from "./world.ts";

const served = watchRoutes();
const webFolder = makeWebFolder();
const provider = await startProvider();
after(() => provider.close());
const receiver = await startHookReceiver();
// With everything that has a route only where it is set up.
const app = await startTestApp({
  webFolder,
  env: {
    PARLEY_S3_NOTIFICATION_TOKEN: bucketToken,
    PARLEY_OIDC_ISSUER: provider.issuer,
    PARLEY_OIDC_CLIENT_ID: "parley",
    PARLEY_OIDC_CLIENT_SECRET: clientSecret,
  },
});
const people = await makePeople(app);
const requests = { ...linkRequests, ...pageRequests, ...publicLinkDoorRequests };
const names = Object.keys(doorCallers) as DoorCaller[];
const hash = await readHash();

test("the table names every route that is no operation, and no other", () => {
  // HEAD is asked along with GET.
  const found = [...served.doors].filter(
    (door) => !served.doors.has(door.replace("HEAD ", "GET ")) || !door.startsWith("HEAD "),
  );
  assert.deepEqual(Object.keys(doors).sort(), found.sort());
  for (const door of Object.keys(requests)) assert.ok(door in doors, `${door} is no door`);
});

for (const [door, row] of Object.entries(doors)) {
  const letIn = names.filter((caller) => row[caller] === "ok").join(", ");
  test(`who gets in at ${door}: ${letIn || "nobody"}`, async () => {
    const [method = "", path = ""] = door.split(" ");
    const methods = method === "GET" && served.doors.has(`HEAD ${path}`) ? ["GET", "HEAD"] : [method];
    const faults: string[] = [];
    for (const caller of names) {
      const expected = row[caller];
      if (expected === null) continue;
      for (const asked of methods)
        for (const ask of await makeAsks(door, caller)) {
          const answer = await send(asked, ask, caller);
          // An answer to HEAD has no page to read.
          const wanted = asked === "HEAD" && expected === "asks" ? "ok" : expected;
          if (answer.outcome !== wanted)
            faults.push(
              `${asked} as ${caller}: ${answer.outcome} instead of ${wanted} (${answer.text.slice(0, 160)})`,
            );
          if (wanted !== "ok" && answer.text.includes(marker))
            faults.push(`${caller}: reads of the recording`);
        }
    }
    assert.deepEqual(faults, []);
  });
}

async function makeAsks(door: string, caller: DoorCaller): Promise<DoorAsk[]> {
  const make = requests[door];
  if (make === undefined) return [plainRequest(door.split(" ")[1] ?? "", { version: currentVersion, hash })];
  return [await make(await makeWorld(app, people, receiver, provider), caller)].flat();
}

async function send(method: string, ask: DoorAsk, caller: DoorCaller) {
  const { recorder, session } = people.credentials;
  const response = await fetch(app.url + ask.path, {
    method,
    redirect: "manual",
    headers: {
      ...(caller === "session" ? session.headers : {}),
      ...(caller === "token" ? { authorization: `Bearer ${recorder.token}` } : {}),
      ...ask.headers,
    },
    ...(ask.body === undefined ? {} : { body: ask.body }),
  });
  const text = await response.text();
  const isAsking = text.includes('autocomplete="current-password"');
  const outcome: DoorOutcome | number = response.status >= 400 ? response.status : isAsking ? "asks" : "ok";
  return { outcome, text };
}

/** What the web app looks like from here. */
function makeWebFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-web-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "assets"));
  writeFileSync(join(folder, "index.html"), "<!doctype html><title>Parley</title>");
  writeFileSync(join(folder, "shared.html"), "<!doctype html><title>%title%</title>");
  writeFileSync(join(folder, "icon.svg"), "<svg xmlns='http://www.w3.org/2000/svg'/>");
  writeFileSync(join(folder, "assets", "app.js"), "export {};");
  return folder;
}

/** The fingerprint in the address of the pages' styles. */
async function readHash(): Promise<string> {
  const page = await (await fetch(`${app.url}/sign-in`)).text();
  return /pages-([0-9a-f]{12})\.css/.exec(page)?.[1] ?? "";
}

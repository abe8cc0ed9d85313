import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { clientSecret, startProvider } from "../../server/people/accounts/test/provider.ts";
import { currentVersion, startTestApp } from "../support/app.ts";
import { startHookReceiver } from "../support/hook-receiver.ts";
import { type RouteCaller, type RouteOutcome, routeCallers } from "./callers.ts";
import { linkRequests } from "./link-requests.ts";
import { otherRoutes } from "./other-routes.ts";
import { bucketToken, pageRequests, plainRequest } from "./page-requests.ts";
import { publicLinkRouteRequests } from "./public-links.ts";
import type { RouteRequest } from "./route-request.ts";
import { scimRequests } from "./scim-requests.ts";
import { createTestUsers } from "./users.ts";
import { watchRoutes } from "./watch-routes.ts";
import { createWorlds, marker } from "./world.ts";

const served = watchRoutes();
const webFolder = makeWebFolder();
const provider = await startProvider();
after(() => provider.close());
const receiver = await startHookReceiver();
// Configures everything that has routes only when configured.
const app = await startTestApp({
  webFolder,
  env: {
    PARLEY_S3_NOTIFICATION_TOKEN: bucketToken,
    PARLEY_OIDC_ISSUER: provider.issuer,
    PARLEY_OIDC_CLIENT_ID: "parley",
    PARLEY_OIDC_CLIENT_SECRET: clientSecret,
  },
});
const users = await createTestUsers(app);
const worlds = createWorlds(app, users, receiver, provider);
const requests = { ...linkRequests, ...pageRequests, ...publicLinkRouteRequests, ...scimRequests };
const names = Object.keys(routeCallers) as RouteCaller[];
const hash = await readHash();

test("the route table has exactly the routes outside the API operations", () => {
  // HEAD is tested together with GET.
  const found = [...served.otherRoutes].filter(
    (route) => !served.otherRoutes.has(route.replace("HEAD ", "GET ")) || !route.startsWith("HEAD "),
  );
  assert.deepEqual(Object.keys(otherRoutes).sort(), found.sort());
  for (const route of Object.keys(requests)) assert.ok(route in otherRoutes, `${route} is not such a route`);
});

for (const [route, row] of Object.entries(otherRoutes)) {
  const allowed = names.filter((caller) => row[caller] === "ok").join(", ");
  test(`${route} is allowed for ${allowed || "no one"}`, async () => {
    const [listed = "", path = ""] = route.split(" ");
    const methods = listed === "GET" && served.otherRoutes.has(`HEAD ${path}`) ? ["GET", "HEAD"] : [listed];
    const problems: string[] = [];
    for (const caller of names) {
      const expected = row[caller];
      if (expected === null) continue;
      for (const method of methods)
        for (const request of await buildRequests(route, caller)) {
          const response = await send(method, request, caller);
          // A response to HEAD has no page to recognize.
          const wanted = method === "HEAD" && expected === "asks" ? "ok" : expected;
          if (response.outcome !== wanted)
            problems.push(
              `${method} as ${caller}: ${response.outcome} instead of ${wanted} (${response.text.slice(0, 160)})`,
            );
          if (wanted !== "ok" && response.text.includes(marker))
            problems.push(`${caller}: the response contains data of the recording`);
        }
    }
    assert.deepEqual(problems, []);
  });
}

async function buildRequests(route: string, caller: RouteCaller): Promise<RouteRequest[]> {
  const make = requests[route];
  if (make === undefined) return [plainRequest(route.split(" ")[1] ?? "", { version: currentVersion, hash })];
  return [await make(await worlds.unused(), caller)].flat();
}

async function send(method: string, request: RouteRequest, caller: RouteCaller) {
  const { recorder, session } = users.credentials;
  const response = await fetch(app.url + request.path, {
    method,
    redirect: "manual",
    headers: {
      ...(caller === "session" ? session.headers : {}),
      ...(caller === "token" ? { authorization: `Bearer ${recorder.token}` } : {}),
      ...request.headers,
    },
    ...(request.body === undefined ? {} : { body: request.body }),
  });
  const text = await response.text();
  const isSignInPage = text.includes('autocomplete="current-password"');
  const outcome: RouteOutcome | number =
    response.status >= 400 ? response.status : isSignInPage ? "asks" : "ok";
  return { outcome, text };
}

/** A minimal build of the web app. */
function makeWebFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-web-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "assets"));
  writeFileSync(join(folder, "index.html"), "<!doctype html><title>Parley</title>");
  writeFileSync(join(folder, "public-link.html"), "<!doctype html><title>%title%</title>");
  writeFileSync(join(folder, "icon.svg"), "<svg xmlns='http://www.w3.org/2000/svg'/>");
  writeFileSync(join(folder, "assets", "app.js"), "export {};");
  return folder;
}

/** The hash in the URL of the pages' stylesheet. */
async function readHash(): Promise<string> {
  const page = await (await fetch(`${app.url}/sign-in`)).text();
  return /pages-([0-9a-f]{12})\.css/.exec(page)?.[1] ?? "";
}

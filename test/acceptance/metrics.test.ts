import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import pg from "pg";
import { parse as parseYaml } from "yaml";
import { call, currentVersion, olderVersion } from "../support/call.ts";
import { ok, startHookReceiver, status } from "../support/hook-receiver.ts";
import { minutes, startModelServer } from "../support/model-server.ts";
import { freePort } from "../support/port.ts";
import { parseScrape, type Scrape } from "../support/prometheus.ts";
import { readExpression, type Selector } from "../support/promql.ts";
import { parley, prepareServer } from "../support/server-process.ts";
import { refuse, startSpeechServer } from "../support/speech-server.ts";
import { until } from "../support/until.ts";

const media = (name: string): Buffer => readFileSync(new URL(`../fixtures/media/${name}`, import.meta.url));

const [ports, receiver, speech, model] = await Promise.all([
  Promise.all([freePort(), freePort()]),
  startHookReceiver(),
  startSpeechServer(),
  startModelServer(),
]);
model.otherwise(minutes);
speech.otherwise(refuse(400));
const secrets = ["speech-key-12345", "model-key-12345"] as const;
const env = {
  PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8",
  PARLEY_TRANSCRIPTION_URL: speech.url,
  PARLEY_TRANSCRIPTION_API_KEY: secrets[0],
  PARLEY_LLM_URL: model.url,
  PARLEY_LLM_API_KEY: secrets[1],
};
const server = await prepareServer({ env: { ...env, PARLEY_METRICS_ADDRESS: String(ports[0]) } });
const worker = await prepareServer({
  shared: server,
  env: {
    ...env,
    PARLEY_ROLE: "worker",
    PARLEY_METRICS_ADDRESS: String(ports[1]),
    PARLEY_HEALTH_ADDRESS: String(ports[1]),
  },
});
const databaseUrl = server.env.PARLEY_DATABASE_URL ?? "";
const databaseName = /\/(test_\w+)/.exec(databaseUrl)?.[1] ?? "";
const database = new pg.Client(databaseUrl);
/** Reaches the same PostgreSQL while the test's database refuses connections. */
const admin = new pg.Client(databaseUrl.replace(databaseName, "postgres"));
await Promise.all([database.connect(), admin.connect()]);
after(async () => {
  await Promise.all([database.end(), admin.end()]);
  await worker.dispose();
  await server.dispose();
});
await server.start();
const token = await parley(server, "token", "create", "--email", "admin@parley.local", "--workspace");

async function scrape(port = ports[0]): Promise<Scrape> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  assert.equal(response.status, 200);
  assert.match(response.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4; charset=utf-8$/);
  return parseScrape(await response.text());
}

/** Scrapes until the condition holds; values of the database are cached for some seconds. */
function scrapeUntil(
  what: string,
  check: (metrics: Scrape) => boolean | undefined,
  port = ports[0],
): Promise<Scrape> {
  return until(what, async () => {
    const metrics = await scrape(port);
    return check(metrics) && metrics;
  });
}

async function post(path: string, body: object, version: string = currentVersion) {
  const response = await call(server, "POST", path, body, { token, version });
  assert.equal(response.status, 200, response.text);
  return response.body;
}

const transcript = {
  transcript: { language: "en", segments: [{ speaker_key: "a", start: 0, end: 900, text: "Hello." }] },
};

test("a scrape has the values of real requests, uploads, jobs, webhooks, models and files", async () => {
  const recorder_ids = [(await post("/users", {})).users[0].id];
  const [good, bad] = [`${receiver.url}/good`, `${receiver.url}/bad`];
  receiver.at("/good", ok);
  for (const hook_url of [good, bad])
    await post("/hooks/create", { hook_url, hook_type: "recording_added" }, olderVersion);
  // From here on: a new webhook is tested.
  receiver.at("/bad", status(500));
  await post("/uploads/create", {
    media_type: "transcript",
    attributes: { recorder_ids, ...transcript },
  });
  const waiting = await post("/uploads/create", { media_type: "audio", attributes: { recorder_ids } });
  const video = await post("/uploads/create", {
    media_type: "video",
    attributes: { recorder_ids, auto_promote: true },
  });
  const file = media("good-exactly-10s.mp4");
  const { url, headers } = video.media.upload;
  const sent = await fetch(url.replace("localhost", "127.0.0.1"), { method: "PUT", headers, body: file });
  assert.equal(sent.status, 200);
  assert.equal(waiting.status, "awaiting");
  for (let n = 0; n < 3; n++) await post("/users", {}, olderVersion);
  assert.equal((await call(server, "POST", "/users", {}, { token: "wrong" })).status, 401);

  const metrics = await scrapeUntil(
    "everything has happened",
    (now) =>
      now.value("parley_uploads", { state: "success" }) === 2 &&
      now.sum("parley_model_attempts_total", { model: "transcription", result: "failure" }) > 0 &&
      now.sum("parley_model_attempts_total", { model: "language_model", result: "success" }) > 0 &&
      now.sum("parley_storage_bytes", { kind: "media" }) > 0 &&
      now.sum("parley_webhook_deliveries_total", { result: "delivered" }) === 2 &&
      now.sum("parley_webhook_deliveries_total", { result: "retry" }) > 0 &&
      now.value("parley_webhooks", { state: "failing" }) === 1 &&
      now.value("parley_webhook_deliveries_pending", { receiver: "failing" }) === 2 &&
      // Values of the database are some seconds old.
      now.value("parley_webhook_events_waiting") === 0 &&
      now.value("parley_uploads", { state: "promoting" }) === 0 &&
      now.sum("parley_jobs") === 0 &&
      now.sum("parley_job_oldest_age_seconds") === 0 &&
      now.sum("parley_model_queue_recordings") === 0,
  );

  const requests = (labels: Record<string, string>) => metrics.sum("parley_http_requests_total", labels);
  assert.equal(requests({ operation: "listUsers", version: olderVersion, status: "200" }), 3);
  assert.equal(requests({ operation: "listUsers", version: "none", status: "401" }), 1);
  assert.equal(requests({ operation: "createUpload", version: currentVersion, status: "200" }), 3);
  assert.equal(metrics.value("parley_http_request_duration_seconds_count", { operation: "listUsers" }), 5);
  assert.ok(requests({ operation: "other", version: "none", status: "200" }) >= 1, "the file");

  assert.equal(metrics.value("parley_uploads", { state: "awaiting" }), 1);
  assert.equal(metrics.value("parley_upload_oldest_age_seconds", { state: "promoting" }), 0);
  assert.equal(metrics.value("parley_uploads_finished_total", { media_type: "video", result: "success" }), 1);
  const toRecording = { media_type: "video", auto_promote: "true" };
  assert.equal(metrics.value("parley_upload_to_recording_seconds_count", toRecording), 1);
  assert.ok((metrics.value("parley_upload_to_recording_seconds_sum", toRecording) ?? 0) > 0);

  const jobs = (queue: string) =>
    metrics.value("parley_jobs_finished_total", { queue, result: "success" }) ?? 0;
  for (const queue of ["validate_upload", "promote_media", "promote_upload", "transcribe_recording"])
    assert.ok(jobs(queue) >= 1, queue);
  for (const state of ["waiting", "delayed", "running"])
    assert.equal(typeof metrics.value("parley_jobs", { queue: "promote_media", state }), "number");

  assert.equal(
    metrics.sum("parley_webhook_deliveries_total", { result: "delivered" }),
    receiver.requests.filter(({ path, body }) => path === "/good" && body !== "{}").length,
  );
  assert.equal(metrics.value("parley_webhooks", { state: "healthy" }), 1);
  assert.ok((metrics.value("parley_webhook_request_duration_seconds_count") ?? 0) >= 3);

  const { rows } = await database.query(
    "select workspace_id, sum(bytes)::float8 as bytes from stored_files where key like '%/media.%' group by 1",
  );
  assert.equal(rows.length, 1);
  const { workspace_id: workspace, bytes } = rows[0];
  assert.equal(metrics.value("parley_storage_bytes", { workspace, kind: "media" }), bytes);
  assert.ok((metrics.value("parley_storage_bytes", { workspace, kind: "thumbnail" }) ?? 0) > 0);

  assert.equal(metrics.value("parley_database_up"), 1);
  assert.ok((metrics.value("parley_database_size_bytes") ?? 0) > 1e6);
  assert.equal(metrics.value("parley_database_connections_max"), 16);
  assert.ok(metrics.sum("parley_database_connections") >= 1);
  assert.ok((metrics.value("parley_disk_free_bytes", { volume: "data" }) ?? 0) > 0);
  assert.ok(
    (metrics.value("parley_disk_size_bytes", { volume: "data" }) ?? 0) >
      (metrics.value("parley_disk_free_bytes", { volume: "data" }) ?? 0),
  );
  assert.ok((metrics.value("process_resident_memory_bytes") ?? 0) > 1e7);
  assert.ok((metrics.value("nodejs_eventloop_lag_p99_seconds") ?? -1) >= 0);
  assert.equal(metrics.value("parley_event_loop_blocked_seconds_total") !== undefined, true);
  assert.equal(metrics.sum("parley_build_info", { role: "all" }), 1);
  for (const sample of metrics.samples)
    if (sample.name === "parley_metrics_query_success")
      assert.equal(sample.value, 1, String(sample.labels.query));
  const text = JSON.stringify(metrics.samples);
  for (const secret of [token, ...secrets, "admin@parley.local", receiver.url])
    assert.equal(text.includes(secret), false);
});

test("every metric and label in deploy/grafana.json and deploy/alerts.yml exists in a real scrape", async () => {
  const metrics = await scrape();
  const { panels, alerts } = readMonitoring();
  assert.ok(panels.length > 30 && alerts.length > 10);
  for (const expression of [...panels, ...alerts]) {
    const { selectors, groupings } = readExpression(expression.replaceAll("$__rate_interval", "5m"));
    assert.ok(selectors.length > 0, expression);
    for (const selector of selectors) checkSelector(selector, metrics, expression);
    for (const label of groupings)
      assert.ok(
        selectors.some((selector) => labelsOf(selector, metrics).has(label)),
        `no metric has ${label}: ${expression}`,
      );
  }
});

test("deploy/grafana.json has a panel for every metric of an alert, and panels don't overlap", () => {
  const { panels, alerts, dashboard } = readMonitoring();
  const shown = new Set(panels.flatMap(metricsOf));
  assert.deepEqual(
    alerts.flatMap(metricsOf).filter((metric) => !shown.has(metric)),
    [],
  );
  const [ids, cells] = [new Set<number>(), new Set<string>()];
  for (const { id, title, gridPos } of dashboard.panels) {
    assert.ok(!ids.has(id), title);
    ids.add(id);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        assert.ok(x < 24 && !cells.has(`${x} ${y}`), title);
        cells.add(`${x} ${y}`);
      }
  }
});

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}

/** The dashboard, and the expressions of it and of the alerts. */
function readMonitoring() {
  const read = (name: string): string =>
    readFileSync(new URL(`../../deploy/${name}`, import.meta.url), "utf8");
  const dashboard: { panels: readonly Panel[] } = JSON.parse(read("grafana.json"));
  const { groups }: { groups: { rules: { expr: string }[] }[] } = parseYaml(read("alerts.yml"));
  return {
    dashboard,
    panels: dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
    alerts: groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)),
  };
}

function metricsOf(expression: string): string[] {
  return readExpression(expression.replaceAll("$__rate_interval", "5m")).selectors.map(
    ({ metric }) => metric,
  );
}

/** Labels that Prometheus adds. */
const addedLabels = ["instance", "job"];

function familyOf(metric: string, { families }: Scrape) {
  return families.get(metric) ?? families.get(metric.replace(/_(?:bucket|sum|count)$/, ""));
}

function labelsOf({ metric }: Selector, metrics: Scrape): Set<string> {
  const samples = familyOf(metric, metrics)?.samples ?? [];
  return new Set([...addedLabels, ...samples.flatMap(({ labels }) => Object.keys(labels))]);
}

function checkSelector(selector: Selector, metrics: Scrape, expression: string): void {
  const { metric, labels } = selector;
  const family = familyOf(metric, metrics);
  assert.ok(family, `${metric} does not exist: ${expression}`);
  assert.ok(family.type !== "histogram" || family.name !== metric, `${metric} needs a suffix: ${expression}`);
  for (const label of labels)
    assert.ok(labelsOf(selector, metrics).has(label), `${metric} has no ${label}: ${expression}`);
}

test("each alert says what to do, in a section of docs/operations/troubleshoot.md that exists", () => {
  const operations = readFileSync(new URL("../../docs/operations/troubleshoot.md", import.meta.url), "utf8");
  const anchors = [...operations.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
  const { groups } = parseYaml(readFileSync(new URL("../../deploy/alerts.yml", import.meta.url), "utf8"));
  const rules = groups.flatMap((group: { rules: unknown[] }) => group.rules);
  for (const { alert, for: time, labels, annotations } of rules) {
    assert.match(alert, /^Parley[A-Z][A-Za-z]+$/);
    assert.match(time, /^\d+m$/);
    assert.match(labels.severity, /^(?:warning|critical)$/);
    assert.ok(annotations.summary && annotations.description, alert);
    const [page, anchor] = annotations.runbook.split("#");
    assert.equal(page, "docs/operations/troubleshoot.md");
    assert.ok(anchors.includes(anchor), `${alert}: ${anchor}`);
  }
});

test("docs/operations/metrics.md lists exactly the metrics of a scrape, with their labels", async () => {
  const operations = readFileSync(new URL("../../docs/operations/metrics.md", import.meta.url), "utf8");
  const section = operations.split("## All metrics")[1]?.split("\n## ")[0] ?? "";
  const documented = new Map(
    [...section.matchAll(/^\| `(parley_\w+)` \| ([^|]*) \|/gm)].map(([, name, labels = ""]) => [
      name,
      [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label).sort(),
    ]),
  );
  const metrics = await scrape();
  const own = [...metrics.families.values()].filter(({ name }) => name.startsWith("parley_"));
  assert.deepEqual([...documented.keys()].sort(), own.map(({ name }) => name).sort());
  for (const { name, samples } of own) {
    const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)));
    labels.delete("le");
    if (samples.length > 0) assert.deepEqual(documented.get(name), [...labels].sort(), name);
  }
});

test("a worker serves metrics and health on one address, with the same figures of the installation", async () => {
  await worker.start();
  assert.equal((await fetch(`http://127.0.0.1:${ports[1]}/readyz`)).status, 200);
  assert.equal((await fetch(`http://127.0.0.1:${ports[1]}/else`)).status, 404);
  assert.equal((await fetch(`http://127.0.0.1:${ports[1]}/metrics`, { method: "POST" })).status, 405);
  const clusterWide = ["parley_uploads", "parley_storage_bytes", "parley_webhooks", "parley_jobs"];
  await until("both report the same", async () => {
    const [one, other] = await Promise.all([scrape(ports[0]), scrape(ports[1])]);
    const valuesOf = (metrics: Scrape) =>
      metrics.samples
        .filter(({ name }) => clusterWide.includes(name))
        .map(({ name, labels, value }) => JSON.stringify([name, labels, value]))
        .sort();
    const values = valuesOf(one);
    assert.ok(values.length > 20);
    return JSON.stringify(values) === JSON.stringify(valuesOf(other));
  });
  assert.equal((await scrape(ports[1])).sum("parley_build_info", { role: "worker" }), 1);
  assert.equal(await worker.stop(), 0);
});

test("unknown paths and many workspaces do not grow the number of series beyond its bound", async () => {
  const before = await scrape();
  for (let n = 0; n < 1000; n += 50)
    await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        fetch(`${server.url}/${n % 100 === 0 ? "" : "_/public-api/v2/"}unknown-${n + index}`, {
          headers: { "public-api-version": `version-${n + index}` },
        }).then((response) => response.arrayBuffer()),
      ),
    );
  await database.query(
    `with w as (
        insert into workspaces (id, name, members_id)
        select gen_random_uuid(), 'Workspace ' || n, gen_random_uuid() from generate_series(1, 300) n returning id
      ), u as (
        insert into users (id, workspace_id, name, email, role)
        select gen_random_uuid(), id, 'U', id || '@example.com', 'member' from w returning id, workspace_id
      )
      insert into uploads (id, workspace_id, created_by, scope, media_type, title, status, auto_promote, recorder_ids,
        reserved_bytes)
      select gen_random_uuid(), workspace_id, id, 'personal', 'transcript', 'T', 'staged', false, '{}', 1000 from u`,
  );
  const metrics = await scrapeUntil(
    "the new workspaces are counted",
    (now) => now.sum("parley_storage_bytes", { kind: "upload" }) >= 300_000,
  );
  const workspaces = metrics.samples
    .filter(({ name }) => name === "parley_storage_bytes")
    .map(({ labels }) => labels.workspace);
  assert.equal(new Set(workspaces).size, 101);
  assert.ok((metrics.value("parley_storage_bytes", { workspace: "other", kind: "upload" }) ?? 0) >= 200_000);
  const grown = (name: string): number =>
    metrics.samples.filter((sample) => sample.name === name).length -
    before.samples.filter((sample) => sample.name === name).length;
  // 404 or 400 without an operation, and pages for browsers.
  assert.ok(grown("parley_http_requests_total") <= 4, `${grown("parley_http_requests_total")} series`);
  const known = new Set(before.samples.map(({ name, labels }) => JSON.stringify([name, labels])));
  const added = metrics.samples
    .map(({ name, labels }) => JSON.stringify([name, labels]))
    .filter((series) => !series.includes("parley_storage_bytes") && !known.has(series));
  assert.ok(added.length <= 4 + 2 * 15, `${added.length} more series: ${added.join(" ")}`);
  assert.ok(metrics.sum("parley_http_requests_total", { operation: "unknown" }) >= 1000);
});

test("a scrape succeeds while the database is away, and says so", async () => {
  assert.equal((await scrape()).value("parley_database_up"), 1);
  await admin.query(`alter database ${databaseName} with allow_connections false`);
  try {
    await until("the server's connections are gone", async () => {
      await admin.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and application_name = 'parley'",
        [databaseName],
      );
      return (await scrape()).value("parley_database_up") === 0;
    });
    const metrics = await scrape();
    assert.equal(metrics.families.get("parley_uploads")?.samples.length, 0, "unknown, not 0");
    assert.equal(metrics.families.get("parley_webhook_events_waiting")?.samples.length, 0);
    assert.ok(metrics.sum("parley_http_requests_total") > 1000, "what the process counts stays");
    assert.ok((metrics.value("parley_disk_free_bytes", { volume: "data" }) ?? 0) > 0);
  } finally {
    await admin.query(`alter database ${databaseName} with allow_connections true`);
  }
  await scrapeUntil(
    "the database is back",
    (now) =>
      now.value("parley_database_up") === 1 &&
      now.value("parley_uploads", { state: "success" }) !== undefined,
  );
});

import { execFileSync } from "node:child_process";
const { startLoad } = await import("/tmp/wt/guard/bench/load.ts");
const load = startLoad();
async function target(v: string, port: number, dir: string) {
  const env = { ...process.env, PARLEY_DATA_DIR: `/tmp/guard-data-${v}` };
  const emails = execFileSync("node", ["-e", ""]).toString();
  const demo = (await import("node:fs")).readFileSync(`/tmp/guard-demo-${v}.txt`, "utf8");
  const token = demo.match(/parley_[a-z]{3}_[A-Za-z0-9_-]{43}/)![0];
  const headers = { authorization: `Bearer ${token}`, "public-api-version": "2026-10-01", "content-type": "application/json" };
  const list = await (await fetch(`http://127.0.0.1:${port}/_/public-api/v2/recordings`, { method: "POST", headers, body: "{}" })).json();
  const id = list.recordings[0].id;
  return {
    get: { url: `http://127.0.0.1:${port}/_/public-api/v2/recordings/${id}`, method: "POST", headers, body: "{}" },
    transcript: { url: `http://127.0.0.1:${port}/_/public-api/v2/recordings/${id}/transcript`, method: "GET", headers, body: "" },
    list: { url: `http://127.0.0.1:${port}/_/public-api/v2/recordings`, method: "POST", headers, body: "{}" },
  };
}
const base = await target("base", 43101, "/tmp/guard-base");
const next = await target("new", 43102, "/tmp/wt/guard");
for (const what of ["get", "transcript", "list"] as const)
  for (const measure of ["throughput", "latency"] as const) {
    const r = await load.compare(measure, base[what] as any, next[what] as any, 5);
    console.log(what, measure, JSON.stringify(r, (_k, v) => typeof v === "number" ? Math.round(v * 1000) / 1000 : v));
  }
load.stop();
process.exit(0);

// Receives webhooks from Parley. Needs only Node 20 or newer:
//
//   HOOK_SECRET=whsec_… PORT=8080 node receive-hooks.mjs
//
// Without HOOK_SECRET it accepts only the reachability test, so that you can create the hook and copy its secret.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const secret = process.env.HOOK_SECRET ?? "";
const port = Number(process.env.PORT ?? 8080);

const TOLERANCE_SEC = 5 * 60;
const MAX_BODY_BYTES = 20 * 1024 * 1024;

/** Ids of processed messages. Keep them in your database, with a unique index, for a week. */
const handled = new Set();

/** Put your work into a queue here and return quickly: after 15 seconds the delivery counts as failed. */
function handle(id, event) {
  console.log(event.type, id);
}

const server = createServer(async (request, response) => {
  const reply = (status, text) => response.writeHead(status, { "content-type": "text/plain" }).end(text);
  try {
    if (request.method !== "POST") return reply(405, "POST only");
    // The signature covers the bytes as received. Parse them only after verifying it.
    const raw = await readBody(request);
    if (raw === null) return reply(413, "too large");
    // The reachability test, sent unsigned when a hook is created: no secret exists yet.
    if (raw.toString() === "{}") return reply(200, "ready");
    const problem = findProblem(request.headers, raw);
    if (problem !== null) return reply(401, problem);
    const id = request.headers["webhook-id"];
    if (handled.has(id)) return reply(200, "known");
    handle(id, JSON.parse(raw.toString()));
    // Last, so that the message is sent again if handling it fails.
    handled.add(id);
    reply(200, "ok");
  } catch (error) {
    console.error(error);
    reply(500, "try again");
  }
});

server.listen(port, () => console.log(`listening on port ${server.address().port}`));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(0));

async function readBody(request) {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > MAX_BODY_BYTES) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** The error in the signature, or null (Standard Webhooks: HMAC-SHA256 over "id.timestamp.body"). */
function findProblem(headers, raw) {
  const id = headers["webhook-id"];
  const timestamp = headers["webhook-timestamp"];
  const signatures = headers["webhook-signature"];
  if (!id || !timestamp || !signatures) return "not signed";
  // Rejects old messages, so that captured ones can't be replayed.
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!(age <= TOLERANCE_SEC)) return "too old, or the clocks differ";
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  if (key.length === 0) return "no secret is set here";
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(raw).digest();
  // While a secret is rotated there are two signatures; one match is enough.
  for (const signature of signatures.split(" ")) {
    const [version, value = ""] = signature.split(",");
    const given = Buffer.from(value, "base64");
    if (version === "v1" && given.length === expected.length && timingSafeEqual(given, expected)) return null;
  }
  return "wrong signature";
}

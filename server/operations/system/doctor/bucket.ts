import { randomUUID } from "node:crypto";
import type { Config } from "../../../platform/config/config.ts";
import { outboundFetch } from "../../../platform/outbound/dispatcher.ts";
import { uploadFileKey } from "../../../platform/storage/layout.ts";
import type { ObjectStore } from "../../../platform/storage/store.ts";
import { type Check, passed, tryCheck, wrong } from "./check.ts";
import { checkSkew } from "./clock.ts";

const requestMs = 15_000;

/**
 * Sends a file to the bucket as a browser does from the web app: a preflight request, then a PUT to a signed URL. If the
 * process is killed in between, the sweep of orphaned files removes the object.
 */
export async function checkBucket(
  store: Pick<ObjectStore, "uploadLink" | "delete">,
  { baseUrl, s3 }: Config,
): Promise<Check[]> {
  const name = "S3 CORS";
  const key = uploadFileKey(randomUUID());
  const { origin } = new URL(baseUrl);
  const remedy = `Allow the origin ${origin} in the CORS rules of the bucket ${s3?.bucket ?? ""}: methods PUT and GET, headers if-none-match and content-type, exposed header etag.`;
  let clock: Check | null = null;
  const cors = await tryCheck(name, remedy, async () => {
    const link = await store.uploadLink(key, { expiresAt: new Date(Date.now() + 600_000) });
    if (link === null) throw new Error("the store has no signed URLs");
    const asked = ["content-type", "if-none-match"];
    const preflight = await send(link.url, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "PUT",
        "access-control-request-headers": asked.join(","),
      },
    });
    clock = checkSkew("S3 clock", "the S3 server", preflight.headers.get("date"));
    const refused = refusalOf(preflight, origin, asked);
    if (refused !== null) return wrong(name, `Browsers can't upload to the bucket: ${refused}.`, remedy);
    const sent = await send(link.url, {
      method: "PUT",
      headers: { ...link.headers, origin, "content-type": "application/octet-stream" },
      body: "parley",
    });
    if (!sent.ok)
      return wrong(name, `The bucket refused a file from a browser with status ${sent.status}.`, remedy);
    if (!allows(sent.headers.get("access-control-expose-headers"), ["etag"]))
      return wrong(name, "The bucket does not expose the header etag to browsers.", remedy);
    return passed(name, `Browsers may upload to the bucket from ${origin}.`);
  });
  await store.delete(key).catch(() => {});
  return clock === null ? [cors] : [cors, clock];
}

async function send(url: string, init: RequestInit): Promise<Response> {
  const response = await outboundFetch(url, {
    ...init,
    redirect: "manual",
    signal: AbortSignal.timeout(requestMs),
  });
  await response.body?.cancel();
  return response;
}

/** Why a browser would not send the file after this preflight response; null: it would. */
function refusalOf(
  { ok, status, headers }: Response,
  origin: string,
  asked: readonly string[],
): string | null {
  const allowed = headers.get("access-control-allow-origin");
  if (!ok || allowed === null) return `its CORS rules don't allow ${origin} (status ${status})`;
  if (allowed !== "*" && allowed !== origin) return `its CORS rules allow ${allowed}, not ${origin}`;
  if (!allows(headers.get("access-control-allow-methods"), ["put"])) return "its CORS rules don't allow PUT";
  if (!allows(headers.get("access-control-allow-headers"), asked))
    return `its CORS rules don't allow the headers ${asked.join(" and ")}`;
  return null;
}

/** Whether a list of names in a header has all of these; `*` has all. */
function allows(list: string | null, names: readonly string[]): boolean {
  const given = (list ?? "").split(",").map((name) => name.trim().toLowerCase());
  return given.includes("*") || names.every((name) => given.includes(name));
}

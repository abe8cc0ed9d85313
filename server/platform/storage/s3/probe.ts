import { randomUUID } from "node:crypto";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { faultOf, type S3Context } from "./client.ts";

/** Key of test objects; the dot hides them from every listing. */
export const probeFolder = ".probe/";

/** How long all of it may take: a start or a health check waits for it. */
const probeMs = 9_000;

/** The store's `probe`. */
export async function probe(context: S3Context): Promise<void> {
  const { client, bucket, prefix } = context;
  const place = { Bucket: bucket, Key: `${prefix}${probeFolder}${randomUUID()}` };
  await inTime(context, async (step, options) => {
    await step("refused to store a test object", () =>
      client.send(new PutObjectCommand({ ...place, Body: Buffer.from("parley") }), options),
    );
    const text = await step("refused to return a test object", async () => {
      const { Body } = await client.send(new GetObjectCommand({ ...place, Range: "bytes=1-3" }), options);
      return Body?.transformToString();
    });
    if (text !== "arl") throw new Error(`${nameOf(context)} does not respect range requests`);
    await step("refused to remove a test object", () => client.send(new DeleteObjectCommand(place), options));
  });
}

/** The store's `check`. */
export async function check(context: S3Context): Promise<void> {
  const { client, bucket: Bucket } = context;
  await inTime(context, (step, options) =>
    step("refused a request for its properties", () =>
      client.send(new HeadBucketCommand({ Bucket }), options),
    ),
  );
}

type Step = <T>(what: string, request: () => Promise<T>) => Promise<T>;

/** Runs steps with one time limit for all. @throws Error that states in one line what failed and why. */
async function inTime(
  context: S3Context,
  run: (step: Step, options: { abortSignal: AbortSignal }) => Promise<unknown>,
): Promise<void> {
  const abort = new AbortController();
  const options = { abortSignal: abort.signal };
  const step: Step = async (what, request) => {
    try {
      return await Promise.race([request(), rejection(abort.signal)]);
    } catch (error) {
      throw new Error(explain(context, what, abort.signal.aborted ? abort.signal.reason : error), {
        cause: error,
      });
    }
  };
  const timer = setTimeout(
    () => abort.abort(new Error(`there was no response for ${probeMs / 1000} seconds`)),
    probeMs,
  );
  try {
    await run(step, options);
  } finally {
    clearTimeout(timer);
  }
}

/** Reading credentials cannot be aborted, so it continues in the background. */
function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function nameOf({ bucket, shownEndpoint }: S3Context): string {
  return `the bucket ${bucket} at ${shownEndpoint}`;
}

/** Error codes of the system for an unreachable server. */
const unreachable = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
]);

function explain(context: S3Context, what: string, error: unknown): string {
  const { code, status, text } = faultOf(error);
  if (unreachable.has(code)) return `nothing responds at ${context.shownEndpoint}: ${oneLine(text)}`;
  if (code === "CredentialsProviderError")
    return `there are no credentials for ${nameOf(context)}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`;
  if (code === "NoSuchBucket" || (status === 404 && code === "NotFound"))
    return `there is no bucket ${context.bucket} at ${context.shownEndpoint}`;
  if (status === undefined) return `${nameOf(context)} could not be reached: ${oneLine(text)}`;
  return `${nameOf(context)} ${what}: ${code} (${status}) ${oneLine(text)}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

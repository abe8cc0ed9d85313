import { randomUUID } from "node:crypto";
import { CopyObjectCommand, GetObjectCommand, HeadBucketCommand } from "@aws-sdk/client-s3";
import { findNetworkReason } from "../../outbound/errors.ts";
import { ObjectExistsError, StoreError, StoreLacksError } from "../store.ts";
import { faultOf, type S3Context } from "./client.ts";
import { multipart } from "./multipart.ts";
import { listNames, removeName } from "./pieces.ts";
import { bufferBody, type PutRules, putBody } from "./put.ts";

/** Key of test objects; the dot hides them from every listing. */
export const probeFolder = ".probe/";

/** How long all of it may take: a start or a health check waits for it. */
const probeMs = 9_000;

/** The store's `probe`: each kind of request that the work sends, by the same functions. */
export async function probe(context: S3Context): Promise<void> {
  const { client, bucket: Bucket, prefix } = context;
  const key = `${probeFolder}${randomUUID()}`;
  const [copy, joined] = [`${key}-copy`, `${key}-parts`];
  const body = bufferBody(Buffer.from("parley"));
  await inTime(context, async (step, { abortSignal }) => {
    await step("refused to store a test object", () =>
      checkConditions(context, (rules) => putBody(context, key, body, { ...rules, signal: abortSignal })),
    );
    const text = await step("refused to return a test object", async () => {
      const command = new GetObjectCommand({ Bucket, Key: prefix + key, Range: "bytes=1-3" });
      const { Body } = await client.send(command, { abortSignal });
      return Body?.transformToString();
    });
    if (text !== "arl") throw new Error(`${nameOf(context)} does not respect range requests`);
    const isListed = await step("refused to list a test object", async () => {
      for await (const { name } of listNames(context, key)) if (name === key) return true;
      return false;
    });
    if (!isListed) throw new Error(`${nameOf(context)} does not list an object that it has just stored`);
    await step("refused to copy a test object", () => {
      const command = { Bucket, Key: prefix + copy, CopySource: encodeURI(`${Bucket}/${prefix}${key}`) };
      return client.send(new CopyObjectCommand(command), { abortSignal });
    });
    await step("refused to join a test object of parts", () =>
      multipart(context, joined, { signal: abortSignal, ifAbsent: !context.mayLackConditions }, (upload) =>
        upload.sendPart(1, body),
      ).catch((error: unknown) => {
        throw faultOf(error).status === 501 ? lacksConditions(context, error) : error;
      }),
    );
    await step("refused to remove a test object", () =>
      Promise.all([key, copy, joined].map((name) => removeName(context, name))),
    );
  });
}

/**
 * Stores an object on the condition that there is none, and again, which must be refused.
 * @throws StoreLacksError when the store has no conditional writes.
 */
async function checkConditions(
  context: S3Context,
  store: (rules: PutRules) => Promise<unknown>,
): Promise<void> {
  try {
    await store({ ifAbsent: true });
  } catch (error) {
    if (error instanceof ObjectExistsError)
      throw new StoreLacksError(
        `what responds at ${context.shownEndpoint} is no S3 store: it says that an object is there before it is stored`,
      );
    if (faultOf(error).status === undefined) throw error;
    // Without the condition: if that works, it was the condition.
    await store({});
    throw lacksConditions(context, error);
  }
  try {
    await store({ ifAbsent: true });
  } catch (error) {
    if (error instanceof ObjectExistsError) return;
    throw error;
  }
  throw lacksConditions(context, null);
}

function lacksConditions(context: S3Context, error: unknown): StoreLacksError {
  const { status, code } = faultOf(error ?? {});
  const what = error === null ? "it ignores If-None-Match" : `If-None-Match is refused: ${status} ${code}`;
  return new StoreLacksError(
    `${nameOf(context)} has no conditional writes (${what}), without which two requests could overwrite each other's files; it can hold backups only`,
  );
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
      if (error instanceof StoreLacksError) throw error;
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
  const { code, status } = faultOf(error);
  // Without the operation and key that the store's own errors name.
  const { text } = faultOf(error instanceof StoreError ? error.cause : error);
  if (unreachable.has(code)) return `nothing responds at ${context.shownEndpoint}: ${oneLine(text)}`;
  if (code === "CredentialsProviderError")
    return `there are no credentials for ${nameOf(context)}: set ${context.credentialsFrom}`;
  if (code === "NoSuchBucket" || (status === 404 && code === "NotFound"))
    return `there is no bucket ${context.bucket} at ${context.shownEndpoint}`;
  if (status === undefined)
    return `${nameOf(context)} could not be reached: ${findNetworkReason(error) ?? oneLine(text)}`;
  const words = text === "UnknownError" ? "" : ` ${oneLine(text)}`;
  const meaning = Object.hasOwn(meanings, code) ? `: ${meanings[code]}` : "";
  return `${nameOf(context)} ${what}: ${code} (${status})${words}${meaning}`;
}

const region =
  "the bucket is in another region; use that region's URL, such as https://s3.eu-west-1.amazonaws.com, as the endpoint";

/** What the error codes of stores mean. */
const meanings: Readonly<Record<string, string>> = {
  SignatureDoesNotMatch: "the secret access key is wrong",
  InvalidAccessKeyId: "the access key ID is unknown there",
  AccessDenied: "the key does not allow it",
  PermanentRedirect: region,
  AuthorizationHeaderMalformed: region,
};

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

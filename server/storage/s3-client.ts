import {
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  S3Client,
  type S3ClientConfig,
} from "@aws-sdk/client-s3";
import type { ObjectInfo } from "./store.ts";

/** Where the objects are kept. */
export interface S3StoreOptions {
  readonly bucket: string;
  /** Without one, Amazon's own. */
  readonly endpoint?: string;
  readonly region?: string;
  /** The bucket goes into the path instead of the host name, as most servers other than Amazon's need. */
  readonly forcePathStyle?: boolean;
  /** Goes before each key, as `parley/` does; for a bucket shared with something else. */
  readonly prefix?: string;
  /**
   * Folder for bodies of unknown length, which S3 does not take; made when it is needed. The system's own for temporary
   * files by default, which may be memory.
   */
  readonly scratchDir?: string;
}

/** What the parts of the store share. */
export interface S3Context {
  readonly client: S3Client;
  readonly bucket: string;
  /** `""` or what goes before each key. */
  readonly prefix: string;
  readonly scratchDir: string;
  /** The endpoint as it is shown to people. */
  readonly shownEndpoint: string;
}

/** The server, or the way to it, failed. `code` is the server's or the system's, `status` HTTP's. */
export class S3Error extends Error {
  override readonly name = "S3Error";
  readonly code: string;
  readonly status: number | undefined;

  constructor(message: string, code: string, status: number | undefined, cause: unknown) {
    super(message, { cause });
    this.code = code;
    this.status = status;
  }
}

/**
 * The client. Credentials come from the usual places (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, profiles, the
 * machine's role). Checksums only where S3 asks for one: by default the library adds some that other servers refuse,
 * and signs that of an empty body into links.
 */
export function createS3Client(options: S3StoreOptions): S3Client {
  const region = options.region ?? (options.endpoint === undefined ? undefined : "us-east-1");
  const settings: S3ClientConfig = {
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    forcePathStyle: options.forcePathStyle ?? false,
    ...(options.endpoint !== undefined && { endpoint: options.endpoint }),
    ...(region !== undefined && { region }),
    // A body of 4 GiB may take long, so only silence is limited.
    requestHandler: { connectionTimeout: 10_000, socketTimeout: 60_000 },
  };
  return new S3Client(settings);
}

/** What S3 or the system calls a fault, and HTTP's status where there was an answer. */
export function faultOf(error: unknown): { code: string; status: number | undefined; text: string } {
  const { name, code, message, $metadata } = error as {
    name?: string;
    code?: unknown;
    message?: string;
    $metadata?: { httpStatusCode?: number };
  };
  const ownCode = typeof code === "string" ? code : undefined;
  const inner = error instanceof AggregateError ? (error.errors[0] as Error | undefined)?.message : undefined;
  return {
    code: ownCode ?? name ?? "UnknownError",
    status: error instanceof S3Error ? error.status : $metadata?.httpStatusCode,
    text: message || inner || "it gave no reason",
  };
}

/** Whether there was an answer with this status and, where a code is named, this code. */
export function answered(error: unknown, status: number, code?: string): boolean {
  const fault = faultOf(error);
  return fault.status === status && (code === undefined || fault.code === code);
}

/** Whether the same may well succeed when done again: nobody answered, or the server is in trouble or too busy. */
export function isPassing(error: unknown): boolean {
  const { status, code } = faultOf(error);
  if (code === "CredentialsProviderError" || code === "AbortError") return false;
  return status === undefined || status >= 500 || status === 429;
}

/**
 * Runs one request.
 * @param what ends the sentence "could not … `key`".
 * @throws S3Error that names operation, key and the server's code.
 */
export async function ask<T>(
  context: S3Context,
  what: string,
  key: string,
  request: () => Promise<T>,
): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (error instanceof S3Error) throw error;
    const { code, status, text } = faultOf(error);
    const message = `could not ${what} ${key} in the bucket ${context.bucket}: ${code}: ${text}`;
    throw new S3Error(message, code, status, error);
  }
}

/** An etag without its quotes. */
export function bareEtag(etag: string | undefined): string {
  return (etag ?? "").replaceAll('"', "");
}

/** The name under which a put leaves a mark on its object, by which it knows it again when the answer was lost. */
export const markName = "parley-mark";

/** An object and the mark that the put of it left. */
export interface Found {
  readonly info: ObjectInfo;
  readonly mark: string | undefined;
}

/** Looks at an object; null when there is none. */
export async function lookAt(context: S3Context, key: string): Promise<Found | null> {
  const place = { Bucket: context.bucket, Key: context.prefix + key };
  try {
    const head = await ask(context, "look at", key, () => context.client.send(new HeadObjectCommand(place)));
    return { info: infoOf(key, head.ContentLength ?? 0, head), mark: head.Metadata?.[markName] };
  } catch (error) {
    if (answered(error, 404)) return null;
    throw error;
  }
}

/** What an answer about an object says of it. */
export function infoOf(
  key: string,
  size: number,
  answer: Pick<HeadObjectCommandOutput, "ETag" | "LastModified">,
): ObjectInfo {
  return { key, size, etag: bareEtag(answer.ETag), modifiedAt: answer.LastModified ?? new Date() };
}

/** Does work for each item, a few at a time. After a failure nothing more is begun, and it throws when all is quiet. */
export async function inParallel<T>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  let failure: { error: unknown } | undefined;
  const runner = async (): Promise<void> => {
    for (const item of queue) {
      if (failure !== undefined) return;
      try {
        await work(item);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, runner));
  if (failure !== undefined) throw failure.error;
}

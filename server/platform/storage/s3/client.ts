import {
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  S3Client,
  type S3ClientConfig,
} from "@aws-sdk/client-s3";
import { agentOptionsFor } from "../../outbound/proxy.ts";
import { type ObjectInfo, StoreError } from "../store.ts";

/** Where the objects are stored. */
export interface S3StoreOptions {
  readonly bucket: string;
  /** Default: Amazon's own. */
  readonly endpoint?: string;
  readonly region?: string;
  /** The bucket is part of the path instead of the host name, as most servers other than Amazon's require. */
  readonly forcePathStyle?: boolean;
  /** Prefix of each key, such as `parley/`; for a shared bucket. */
  readonly prefix?: string;
  /**
   * Folder for bodies of unknown length, which S3 does not accept; created when needed. By default the system's
   * temporary folder, which may be in memory.
   */
  readonly scratchDir?: string;
  /**
   * The store may refuse or ignore `If-None-Match`, as Backblaze B2 does: then `ifAbsent` checks for the object first. For
   * backups, whose folder has one writer at a time. Default: false.
   */
  readonly mayLackConditions?: boolean;
  /** Default: those of the standard sources. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** Where users set them, for messages. Default: `standardCredentials`. */
  readonly credentialsFrom?: string;
}

/** What users set for the standard sources. */
export const standardCredentials = "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";

/** Shared by the parts of the store. */
export interface S3Context {
  readonly client: S3Client;
  readonly bucket: string;
  /** `""` or the prefix of each key. */
  readonly prefix: string;
  readonly scratchDir: string;
  readonly mayLackConditions: boolean;
  /** The endpoint as shown to users. */
  readonly shownEndpoint: string;
  /** What sets the credentials, as shown to users. */
  readonly credentialsFrom: string;
}

/** The server or the connection to it failed. `code` is the server's or the system's, `status` HTTP's. */
class S3Error extends StoreError {
  override readonly name = "S3Error";
  readonly code: string;
  readonly status: number | undefined;

  constructor(message: string, code: string, status: number | undefined, cause: unknown) {
    super(message, isPassing(cause), cause);
    this.code = code;
    this.status = status;
  }
}

/**
 * The client. Credentials come from the standard sources (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, profiles, the
 * machine's role). Checksums only where S3 requires one: by default the library adds some that other servers refuse,
 * and signs that of an empty body into URLs.
 */
export function createS3Client(options: S3StoreOptions): S3Client {
  const region = options.region ?? (options.endpoint === undefined ? undefined : "us-east-1");
  const server = options.endpoint ?? `https://s3.${region ?? "us-east-1"}.amazonaws.com`;
  const agentOptions = { maxSockets: 5000, ...agentOptionsFor(server) };
  const settings: S3ClientConfig = {
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    forcePathStyle: options.forcePathStyle ?? false,
    ...(options.endpoint !== undefined && { endpoint: options.endpoint }),
    ...(region !== undefined && { region }),
    ...(options.credentials !== undefined && { credentials: options.credentials }),
    requestHandler: {
      // A body of 4 GiB may take long, so only silence is limited.
      connectionTimeout: 10_000,
      socketTimeout: 60_000,
      // Each download to a client has a connection to the bucket; by default the 51st would wait, and all others with it.
      httpAgent: agentOptions,
      httpsAgent: agentOptions,
    },
  };
  return new S3Client(settings);
}

/** The error code of S3 or the system, and the HTTP status if there was a response. */
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

/** Whether there was a response with this status and, if given, this code. */
export function answered(error: unknown, status: number, code?: string): boolean {
  const fault = faultOf(error);
  return fault.status === status && (code === undefined || fault.code === code);
}

/** Whether a retry may succeed: no response, or the server has a problem or is too busy. */
export function isPassing(error: unknown): boolean {
  const { status, code } = faultOf(error);
  if (code === "CredentialsProviderError" || code === "AbortError") return false;
  // 501: the server lacks what the request asks for.
  return status === undefined || (status >= 500 && status !== 501) || status === 429;
}

/**
 * Runs one request.
 * @param what completes the sentence "could not … `key`".
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

/** Metadata with which a put marks its object, to recognize it when the response was lost. */
export const markName = "parley-mark";

/** An object and the marker that its put left. */
export interface Found {
  readonly info: ObjectInfo;
  readonly mark: string | undefined;
}

/** Reads the properties of an object; null when there is none. */
export async function headObject(context: S3Context, key: string): Promise<Found | null> {
  const place = { Bucket: context.bucket, Key: context.prefix + key };
  try {
    const head = await ask(context, "look up", key, () => context.client.send(new HeadObjectCommand(place)));
    return { info: infoOf(key, head.ContentLength ?? 0, head), mark: head.Metadata?.[markName] };
  } catch (error) {
    if (answered(error, 404)) return null;
    throw error;
  }
}

/** The properties of an object in a response about it. */
export function infoOf(
  key: string,
  size: number,
  answer: Pick<HeadObjectCommandOutput, "ETag" | "LastModified">,
): ObjectInfo {
  return { key, size, etag: bareEtag(answer.ETag), modifiedAt: answer.LastModified ?? new Date() };
}

import { stat } from "node:fs/promises";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
} from "@aws-sdk/client-s3";
import { forEachConcurrent } from "../../concurrency.ts";
import { throwIfAborted } from "../body.ts";
import { type ObjectInfo, ObjectMissingError } from "../store.ts";
import { ask, headObject, markName, type S3Context } from "./client.ts";
import { fileBody, type PutBody, putBody, send } from "./put.ts";

/** Larger files are sent in parts of at least `partBytes`, so that an error costs one part and not the file. */
const singlePutBytes = 64 * 1024 * 1024;
const partBytes = 32 * 1024 * 1024;
/** S3 accepts no more parts. */
const maxParts = 10_000;

/** A multipart upload in progress; parts are numbered from 1. */
export interface Multipart {
  sendPart(number: number, body: PutBody): Promise<void>;
  /** Uses a whole object of the bucket as the part. @param name with the store's prefix. */
  copyPart(number: number, name: string): Promise<void>;
}

export interface MultipartRules {
  readonly contentType?: string;
  readonly ifAbsent?: boolean;
  readonly mark?: string;
  readonly signal?: AbortSignal;
}

/** Creates an object from parts. When `fill` or anything else fails, the parts are removed. */
export async function multipart(
  context: S3Context,
  key: string,
  rules: MultipartRules,
  fill: (upload: Multipart) => Promise<void>,
): Promise<ObjectInfo> {
  const { client, bucket } = context;
  const place = { Bucket: bucket, Key: context.prefix + key };
  const { UploadId } = await ask(context, "begin the parts of", key, () =>
    client.send(
      new CreateMultipartUploadCommand({
        ...place,
        ...(rules.contentType !== undefined && { ContentType: rules.contentType }),
        ...(rules.mark !== undefined && { Metadata: { [markName]: rules.mark } }),
      }),
    ),
  );
  const etags = new Map<number, string | undefined>();
  try {
    await fill({
      async sendPart(number, body) {
        const { ETag } = await send(body, rules.signal, (Body, abortSignal) =>
          ask(context, `store part ${number} of`, key, () =>
            client.send(
              new UploadPartCommand({
                ...place,
                UploadId,
                PartNumber: number,
                Body,
                ContentLength: body.size,
              }),
              { abortSignal },
            ),
          ),
        );
        etags.set(number, ETag);
      },
      async copyPart(number, name) {
        const source = { CopySource: encodeURI(`${bucket}/${name}`), UploadId, PartNumber: number };
        const { CopyPartResult } = await ask(context, `copy part ${number} of`, key, () =>
          client.send(new UploadPartCopyCommand({ ...place, ...source })),
        );
        etags.set(number, CopyPartResult?.ETag);
      },
    });
    const Parts = [...etags]
      .sort(([a], [b]) => a - b)
      .map(([PartNumber, ETag]) => ({ PartNumber, ...(ETag !== undefined && { ETag }) }));
    await ask(context, "join the parts of", key, () =>
      client.send(
        new CompleteMultipartUploadCommand({
          ...place,
          UploadId,
          MultipartUpload: { Parts },
          ...(rules.ifAbsent && { IfNoneMatch: "*" }),
        }),
      ),
    );
  } catch (error) {
    // If this fails as well, the sweep removes the parts; the first error is the one to report.
    await client.send(new AbortMultipartUploadCommand({ ...place, UploadId })).catch(() => {});
    throw error;
  }
  // Not every server returns the etag after joining.
  const made = await headObject(context, key);
  if (made === null) throw new ObjectMissingError(`${key} was removed while it was written`);
  return made.info;
}

/** The store's `putFile`. */
export async function putFile(
  context: S3Context,
  key: string,
  path: string,
  options: { contentType?: string; signal?: AbortSignal },
): Promise<ObjectInfo> {
  throwIfAborted(options.signal);
  const { size } = await stat(path);
  if (size <= singlePutBytes) return putBody(context, key, fileBody(path, 0, size), options);
  const step = Math.max(partBytes, Math.ceil(size / maxParts));
  const numbers = Array.from({ length: Math.ceil(size / step) }, (_, index) => index + 1);
  return multipart(context, key, options, (upload) =>
    forEachConcurrent(numbers, 4, (number) => {
      const start = (number - 1) * step;
      return upload.sendPart(number, fileBody(path, start, Math.min(step, size - start)));
    }),
  );
}

import { stat } from "node:fs/promises";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
} from "@aws-sdk/client-s3";
import { refuseIfGivenUp } from "./body.ts";
import { ask, inParallel, lookAt, markName, type S3Context } from "./s3-client.ts";
import { fileBody, type PutBody, putBody, send } from "./s3-put.ts";
import { type ObjectInfo, ObjectMissingError } from "./store.ts";

/** Files above this go in parts of at least `partBytes`, so that a fault costs one part and not the file. */
const singlePutBytes = 64 * 1024 * 1024;
const partBytes = 32 * 1024 * 1024;
/** S3 takes no more parts. */
const maxParts = 10_000;

/** A multipart upload that is under way; parts are numbered from 1. */
export interface Multipart {
  sendPart(number: number, body: PutBody): Promise<void>;
  /** Takes a whole object of the bucket as the part. @param name with the store's prefix. */
  copyPart(number: number, name: string): Promise<void>;
}

export interface MultipartRules {
  readonly contentType?: string;
  readonly ifAbsent?: boolean;
  readonly mark?: string;
  readonly signal?: AbortSignal;
}

/** Makes an object of parts. When `fill` or anything else fails, the parts are thrown away. */
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
    // What is left if this fails as well is found by the sweep; the first fault is the one to tell.
    await client.send(new AbortMultipartUploadCommand({ ...place, UploadId })).catch(() => {});
    throw error;
  }
  // Not every server tells the etag when it joins.
  const made = await lookAt(context, key);
  if (made === null) throw new ObjectMissingError(`${key} was removed while it was written`);
  return made.info;
}

/** The port's `putFile`. */
export async function putFile(
  context: S3Context,
  key: string,
  path: string,
  options: { contentType?: string; signal?: AbortSignal },
): Promise<ObjectInfo> {
  refuseIfGivenUp(options.signal);
  const { size } = await stat(path);
  if (size <= singlePutBytes) return putBody(context, key, fileBody(path, 0, size), options);
  const step = Math.max(partBytes, Math.ceil(size / maxParts));
  const numbers = Array.from({ length: Math.ceil(size / step) }, (_, index) => index + 1);
  return multipart(context, key, options, (upload) =>
    inParallel(numbers, 4, (number) => {
      const start = (number - 1) * step;
      return upload.sendPart(number, fileBody(path, start, Math.min(step, size - start)));
    }),
  );
}

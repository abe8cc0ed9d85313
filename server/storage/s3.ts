import { tmpdir } from "node:os";
import type { Readable } from "node:stream";
import { CopyObjectCommand, GetObjectCommand } from "@aws-sdk/client-s3";
import { checkKey, checkPrefix } from "./key-rules.ts";
import { s3Appends } from "./s3-append.ts";
import {
  answered,
  ask,
  createS3Client,
  infoOf,
  lookAt,
  type S3Context,
  type S3StoreOptions,
} from "./s3-client.ts";
import { createLinks } from "./s3-links.ts";
import { putFile } from "./s3-multipart.ts";
import { listNames, removeName } from "./s3-pieces.ts";
import { check, probe } from "./s3-probe.ts";
import { put } from "./s3-put.ts";
import { sweepLeftovers } from "./s3-sweep.ts";
import { type ByteRange, ObjectMissingError, type ObjectStore } from "./store.ts";

export type { S3StoreOptions } from "./s3-client.ts";

/** Keeps objects in a bucket of Amazon S3 or of a server that speaks its protocol. Nothing is asked before first use. */
export function openS3Store(options: S3StoreOptions): ObjectStore {
  const client = createS3Client(options);
  const { bucket, prefix = "" } = options;
  const context: S3Context = {
    client,
    bucket,
    prefix,
    scratchDir: options.scratchDir ?? tmpdir(),
    shownEndpoint: options.endpoint ?? "Amazon S3",
  };
  const links = createLinks(context);
  const placeOf = (key: string): { Bucket: string; Key: string } => {
    checkKey(key);
    return { Bucket: bucket, Key: prefix + key };
  };

  const head: ObjectStore["head"] = async (key) => {
    checkKey(key);
    return (await lookAt(context, key))?.info ?? null;
  };

  return {
    kind: "s3",
    probe: () => probe(context),
    check: () => check(context),
    async put(key, body, putOptions = {}) {
      checkKey(key);
      return put(context, key, body, putOptions);
    },
    async putFile(key, path, fileOptions = {}) {
      checkKey(key);
      return putFile(context, key, path, fileOptions);
    },
    async get(key, range, signal) {
      const command = new GetObjectCommand({ ...placeOf(key), ...(range && { Range: rangeHeader(range) }) });
      try {
        const found = await ask(context, "read", key, () =>
          client.send(command, signal === undefined ? {} : { abortSignal: signal }),
        );
        const whole = /\/(\d+)$/.exec(found.ContentRange ?? "")?.[1];
        const size = whole === undefined ? (found.ContentLength ?? 0) : Number(whole);
        return { info: infoOf(key, size, found), body: found.Body as Readable };
      } catch (error) {
        if (answered(error, 404, "NoSuchKey"))
          throw new ObjectMissingError(`nothing is at ${key}`, { cause: error });
        if (answered(error, 416))
          throw new RangeError(`bytes ${range?.start} to ${range?.end} are not in ${key}`, { cause: error });
        throw error;
      }
    },
    head,
    async delete(key) {
      checkKey(key);
      await removeName(context, key);
    },
    async copy(from, to, contentType) {
      const command = new CopyObjectCommand({
        ...placeOf(to),
        CopySource: encodeURI(`${bucket}/${placeOf(from).Key}`),
        // S3 refuses to copy an object onto itself unless something about it changes.
        ...((contentType !== undefined || from === to) && { MetadataDirective: "REPLACE" }),
        ...(contentType !== undefined && { ContentType: contentType }),
      });
      try {
        await ask(context, `copy ${from} to`, to, () => client.send(command));
      } catch (error) {
        if (answered(error, 404, "NoSuchKey"))
          throw new ObjectMissingError(`nothing is at ${from}`, { cause: error });
        throw error;
      }
      const info = await head(to);
      if (info === null) throw new ObjectMissingError(`${to} was removed while it was written`);
      return info;
    },
    async *list(wanted) {
      checkPrefix(wanted);
      for await (const { name, ...info } of listNames(context, wanted))
        if (!name.startsWith(".")) yield { key: name, ...info };
    },
    localPath(key) {
      checkKey(key);
      return null;
    },
    async downloadLink(key, linkOptions) {
      checkKey(key);
      return links.downloadLink(key, linkOptions);
    },
    async uploadLink(key, linkOptions) {
      checkKey(key);
      return links.uploadLink(key, linkOptions);
    },
    ...s3Appends(context),
    sweepLeftovers: (olderThan) => sweepLeftovers(context, olderThan),
    ownKey: (name) => (name.startsWith(prefix) ? name.slice(prefix.length) : null),
    close: async () => client.destroy(),
  };
}

/** The range as the header says it. @throws RangeError for one that is none; a server would ignore it. */
function rangeHeader({ start, end }: ByteRange): string {
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || end < start)
    throw new RangeError(`bytes ${start} to ${end} are no range`);
  return `bytes=${start}-${end}`;
}

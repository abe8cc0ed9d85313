import { tmpdir } from "node:os";
import type { Readable } from "node:stream";
import { CopyObjectCommand, GetObjectCommand } from "@aws-sdk/client-s3";
import { checkKey, checkPrefix } from "../key-rules.ts";
import { type ByteRange, ObjectMissingError, type ObjectStore } from "../store.ts";
import { s3Appends } from "./append.ts";
import {
  answered,
  ask,
  createS3Client,
  headObject,
  infoOf,
  type S3Context,
  type S3StoreOptions,
  standardCredentials,
} from "./client.ts";
import { createLinks } from "./links.ts";
import { putFile } from "./multipart.ts";
import { listNames, removeName } from "./pieces.ts";
import { check, probe } from "./probe.ts";
import { put } from "./put.ts";
import { sweepLeftovers } from "./sweep.ts";

export type { S3StoreOptions } from "./client.ts";

/**
 * Stores objects in a bucket of Amazon S3 or of a server that speaks its protocol. Sends no request before first use.
 */
export function openS3Store(options: S3StoreOptions): ObjectStore {
  const client = createS3Client(options);
  const { bucket, prefix = "" } = options;
  const context: S3Context = {
    client,
    bucket,
    prefix,
    scratchDir: options.scratchDir ?? tmpdir(),
    mayLackConditions: options.mayLackConditions ?? false,
    shownEndpoint: options.endpoint ?? "Amazon S3",
    credentialsFrom: options.credentialsFrom ?? standardCredentials,
  };
  const links = createLinks(context);
  const placeOf = (key: string): { Bucket: string; Key: string } => {
    checkKey(key);
    return { Bucket: bucket, Key: prefix + key };
  };

  const head: ObjectStore["head"] = async (key) => {
    checkKey(key);
    return (await headObject(context, key))?.info ?? null;
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

/** The range as an HTTP header. @throws RangeError for an invalid one; a server would ignore it. */
function rangeHeader({ start, end }: ByteRange): string {
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || end < start)
    throw new RangeError(`bytes ${start} to ${end} are not a range`);
  return `bytes=${start}-${end}`;
}

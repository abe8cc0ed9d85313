import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { sentenceOf, sentences } from "../../../../contract/sentences.ts";
import type { Config } from "../../../platform/config/config.ts";
import {
  answered,
  ask,
  createS3Client,
  faultOf,
  type S3Context,
  standardCredentials,
} from "../../../platform/storage/s3/client.ts";
import {
  type FoundFile,
  isHidden,
  maxFolderFiles,
  maxNumber,
  numbered,
  outdated,
  tooManyFiles,
  WatchError,
  type WatchedFolder,
} from "./watched-folder.ts";

/** A prefix of a bucket, at the S3 server of the settings. Names are the user's, and need not be keys of the store. */
export function openBucketFolder(location: string, { s3Connection, dataDir }: Config): WatchedFolder {
  const [, bucket = "", prefix = ""] = /^s3:\/\/([^/]+)\/(.+)$/.exec(location) ?? [];
  const root = `${prefix}/`;
  const { endpoint, region, forcePathStyle } = s3Connection;
  const client = createS3Client({
    bucket,
    region,
    forcePathStyle,
    ...(endpoint === null ? {} : { endpoint }),
  });
  const context: S3Context = {
    client,
    bucket,
    prefix: "",
    scratchDir: dataDir,
    mayLackConditions: false,
    shownEndpoint: endpoint ?? "Amazon S3",
    credentialsFrom: standardCredentials,
  };
  const at = (path: string) => ({ Bucket: bucket, Key: root + path });
  const nameOf = (path: string): string => (path === "" ? location : `${location}/${path}`);

  async function listPage(folder: string, token: string | undefined): Promise<ListObjectsV2CommandOutput> {
    const command = new ListObjectsV2Command({
      Bucket: bucket,
      Prefix: folder === "" ? root : `${root}${folder}/`,
      Delimiter: "/",
      ...(token === undefined ? {} : { ContinuationToken: token }),
    });
    return ask(context, "list", nameOf(folder), () => client.send(command));
  }

  async function open(path: string) {
    const head = await ask(context, "look up", path, () =>
      client.send(new HeadObjectCommand(at(path))),
    ).catch((error) => Promise.reject(answered(error, 404) ? outdated(nameOf(path)) : error));
    const get = (): Promise<Readable> =>
      ask(context, "read", path, async () => {
        const command = new GetObjectCommand({ ...at(path), ...(head.ETag && { IfMatch: head.ETag }) });
        return (await client.send(command)).Body as Readable;
      }).catch((error) =>
        Promise.reject(answered(error, 404) || answered(error, 412) ? outdated(nameOf(path)) : error),
      );
    return { head, get };
  }

  /** @throws WatchError when the object is another one than the listed one. */
  async function openUnchanged(path: string, stamp: string): ReturnType<typeof open> {
    const opened = await open(path);
    // Listings have the time with milliseconds, this response has it without.
    const { ContentLength = 0, ETag = "" } = opened.head;
    if (!stamp.startsWith(`${ContentLength} ${ETag} `)) throw outdated(nameOf(path));
    return opened;
  }

  return {
    nameOf,
    async list(folder) {
      const files: FoundFile[] = [];
      const folders: string[] = [];
      const from = (folder === "" ? root : `${root}${folder}/`).length;
      let token: string | undefined;
      do {
        const page = await listPage(folder, token);
        for (const { Key = "", Size = 0, ETag = "", LastModified = new Date(0) } of page.Contents ?? []) {
          const name = Key.slice(from);
          if (name === "" || isHidden(name)) continue;
          files.push({
            name,
            size: Size,
            stamp: `${Size} ${ETag} ${LastModified.getTime()}`,
            modifiedAt: LastModified,
          });
        }
        for (const { Prefix = "" } of page.CommonPrefixes ?? []) {
          const name = Prefix.slice(from, -1);
          if (name !== "" && name !== ".." && !isHidden(name)) folders.push(name);
        }
        if (files.length + folders.length > maxFolderFiles) throw tooManyFiles(nameOf(folder));
        token = page.IsTruncated ? page.NextContinuationToken : undefined;
      } while (token !== undefined);
      return { files, folders };
    },
    async open(path) {
      const { head, get } = await open(path);
      return {
        size: head.ContentLength ?? 0,
        read: () => lazily(get),
        isUnchanged: async () => (await open(path).catch(() => null))?.head.ETag === head.ETag,
        close: async () => {},
      };
    },
    isCurrent: (path, stamp) =>
      openUnchanged(path, stamp).then(
        () => true,
        (error) => (error instanceof WatchError ? false : Promise.reject(error)),
      ),
    isMounted: async () => true,
    async readBytes(path, maxBytes) {
      const { head, get } = await open(path);
      if ((head.ContentLength ?? 0) > maxBytes)
        throw new WatchError(
          sentenceOf("watch_long", { file: nameOf(path), size: Math.floor(maxBytes / 1000) }),
          sentences.watch_long_remedy,
        );
      return buffer(await get());
    },
    async writeText(path, content) {
      const command = new PutObjectCommand({
        ...at(path),
        Body: content,
        ContentType: "text/plain; charset=utf-8",
      });
      await ask(context, "write", path, () => client.send(command));
    },
    async move(from, to, stamp) {
      const { head } = await openUnchanged(from, stamp);
      for (let number = 1; number <= maxNumber; number += 1) {
        const target = numbered(to, number);
        const isTaken = await open(target).then(
          () => true,
          (error) => (error instanceof WatchError ? false : Promise.reject(error)),
        );
        if (isTaken) continue;
        const source = [bucket, ...at(from).Key.split("/")].map(encodeURIComponent).join("/");
        await ask(context, "copy", from, () =>
          client.send(
            new CopyObjectCommand({ ...at(target), CopySource: source, CopySourceIfMatch: head.ETag }),
          ),
        ).catch((error) => Promise.reject(answered(error, 412) ? outdated(nameOf(from)) : error));
        return this.remove(from, stamp);
      }
      throw new Error(`${nameOf(to)} exists`);
    },
    async remove(path, stamp) {
      if (stamp !== undefined) await openUnchanged(path, stamp);
      await ask(context, "delete", path, () => client.send(new DeleteObjectCommand(at(path))));
    },
    async check() {
      try {
        await listPage("", undefined);
      } catch (error) {
        throw new WatchError(
          sentenceOf("watch_unlisted", { folder: location, reason: faultOf(error).text }),
          sentences.watch_unlisted_remedy,
        );
      }
    },
    close: () => client.destroy(),
  };
}

/** A stream that sends its request when it is read. */
function lazily(get: () => Promise<Readable>): Readable {
  return Readable.from(
    (async function* () {
      yield* await get();
    })(),
  );
}

import {
  AbortMultipartUploadCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
} from "@aws-sdk/client-s3";
import { recordingsPrefix, uploadsPrefix } from "./layout.ts";
import { ask, type S3Context } from "./s3-client.ts";
import { appendsFolder, listNames, removeName } from "./s3-pieces.ts";
import { probeFolder } from "./s3-probe.ts";

/** Where we put objects; `parley/` is for what the service keeps of its own (links/secret.ts). */
const ownPrefixes = [uploadsPrefix, recordingsPrefix, "parley/", appendsFolder, probeFolder];

/**
 * The port's `sweepLeftovers`. The bucket may be used by others as well, whose open uploads have the same look, so only
 * what lies where we put things is touched.
 */
export async function sweepLeftovers(context: S3Context, olderThan: Date): Promise<number> {
  let removed = 0;
  for (const prefix of ownPrefixes) removed += await abortMultiparts(context, prefix, olderThan);
  for await (const { name, modifiedAt } of listNames(context, probeFolder)) {
    if (modifiedAt >= olderThan) continue;
    await removeName(context, name);
    removed++;
  }
  return removed;
}

/** Throws away multipart uploads: S3 keeps (and bills) the parts for ever. */
async function abortMultiparts(context: S3Context, prefix: string, olderThan: Date): Promise<number> {
  const { client, bucket: Bucket } = context;
  const Prefix = context.prefix + prefix;
  let aborted = 0;
  let markers: { KeyMarker?: string; UploadIdMarker?: string } | undefined = {};
  while (markers !== undefined) {
    const from: { KeyMarker?: string; UploadIdMarker?: string } = markers;
    const page: ListMultipartUploadsCommandOutput = await ask(
      context,
      "list the unfinished uploads of",
      `${Prefix}*`,
      () => client.send(new ListMultipartUploadsCommand({ Bucket, Prefix, ...from })),
    );
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      // Some servers give more than was asked for.
      if (Key === undefined || !Key.startsWith(Prefix)) continue;
      if (Initiated === undefined || Initiated >= olderThan) continue;
      await ask(context, "throw away the parts of", Key, () =>
        client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })),
      );
      aborted++;
    }
    const { IsTruncated, NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page;
    markers =
      IsTruncated && KeyMarker !== undefined
        ? { KeyMarker, ...(UploadIdMarker !== undefined && { UploadIdMarker }) }
        : undefined;
  }
  return aborted;
}

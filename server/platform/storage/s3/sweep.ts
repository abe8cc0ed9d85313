import {
  AbortMultipartUploadCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
} from "@aws-sdk/client-s3";
import { recordingsPrefix, uploadsPrefix } from "../layout.ts";
import { ask, type S3Context } from "./client.ts";
import { appendsFolder, listNames, removeName } from "./pieces.ts";
import { probeFolder } from "./probe.ts";

/** The prefixes that Parley uses; `parley/` holds the service's own objects (platform/crypto/secret.ts). */
const ownPrefixes = [uploadsPrefix, recordingsPrefix, "parley/", appendsFolder, probeFolder];

/**
 * The store's `sweepLeftovers`. Others may use the bucket as well, and their unfinished uploads look the same, so only
 * objects below our own prefixes are touched.
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

/** Aborts multipart uploads: S3 keeps (and bills) the parts indefinitely. */
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
      // Some servers return more than requested.
      if (Key === undefined || !Key.startsWith(Prefix)) continue;
      if (Initiated === undefined || Initiated >= olderThan) continue;
      await ask(context, "remove the parts of", Key, () =>
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

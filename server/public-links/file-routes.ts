import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { addressKey } from "../http/address-key.ts";
import { applyAllowance, type RateLimiter } from "../http/rate-limit.ts";
import { serveObject } from "../http/serve-object.ts";
import type { LinkSigner } from "../links/signer.ts";
import { contentTypes, downloadName } from "../recordings/media.ts";
import { formatTranscript } from "../recordings/transcript-format.ts";
import { ObjectMissingError, type ObjectStore } from "../storage/store.ts";
import { findItems, type Item } from "./items.ts";
import { nothingHere, openLink } from "./open.ts";
import type { LinkRow } from "./queries.ts";
import { keepOut } from "./shared-routes.ts";
import { findSpoken } from "./spoken.ts";
import { sharedPath } from "./view.ts";
import { watch } from "./watch.ts";

interface Dependencies {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly signer: LinkSigner;
  readonly limiter: RateLimiter;
  readonly config: Pick<Config, "rateLimitPerMinute">;
}

/** A player asks for many ranges, and a page for many pictures: files count by themselves, with so many times the limit. */
const filesPerRequest = 10;

/** Which object of an item a name means, and as what it is sent; null for a name that is none. */
function findObject(link: LinkRow, item: Item, name: string) {
  if (item.prefix === null || item.format === null) return null;
  const media = { key: `${item.prefix}media.${item.format}`, contentType: contentTypes[item.format] };
  if (name === `media.${item.format}`) return media;
  if (name === "download" && link.allow_download)
    return { ...media, fileName: downloadName({ title: item.title, format: item.format }) };
  if (/^(?:waveform|storyboard)\.json$/.test(name))
    return { key: item.prefix + name, contentType: "application/json" };
  if (/^(?:thumbnail|storyboard-\d{1,4})\.jpg$/.test(name))
    return { key: item.prefix + name, contentType: "image/jpeg" };
  return null;
}

/**
 * Hands out the files of links. Each request looks the link up, and the bytes come from here and never by a bucket's own
 * address, so that a link that is taken back is dead at once.
 */
export function sharedFileRoutes(app: FastifyInstance, deps: Dependencies): void {
  const { db, store, signer, limiter, config } = deps;
  const opening = { db: db.kysely, signer };
  const limit = config.rateLimitPerMinute * filesPerRequest;

  app.route({
    method: ["GET", "HEAD"],
    url: `${sharedPath}/:token/items/:item_id/files/:name`,
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      keepOut(reply);
      if (limit > 0)
        applyAllowance(reply, await limiter.take(`shared files:${addressKey(request.ip)}`, limit));
      const { token, item_id: itemId, name } = request.params as Record<string, string>;
      const access = (request.query as { access?: unknown }).access;
      const reopen = async () => {
        const link = await openLink(opening, token ?? "", typeof access === "string" ? access : undefined);
        const item = (await findItems(db.kysely, signer, link)).find(({ id }) => id === itemId);
        if (item === undefined) throw nothingHere();
        return { link, item };
      };
      const { link, item } = await reopen();
      if (name === "captions.vtt") return sendCaptions(request, reply, item);
      const object = findObject(link, item, name ?? "");
      if (object === null) throw nothingHere();
      const { key, ...described } = object;
      const info = await store.head(key);
      if (info === null) throw nothingHere();
      const isStillGood = async (): Promise<boolean> => {
        const now = await reopen();
        return findObject(now.link, now.item, name ?? "")?.key === key;
      };
      watch(reply.raw, isStillGood);
      return serveObject(request, reply, {
        ...info,
        ...described,
        maxAgeSec: null,
        open: (range) => openObject(store, key, range),
      });
    },
  });

  async function sendCaptions(request: FastifyRequest, reply: FastifyReply, item: Item) {
    const text = Buffer.from(formatTranscript("vtt", await findSpoken(db.pool, item)));
    return serveObject(request, reply, {
      size: text.length,
      etag: createHash("sha256").update(text).digest("hex").slice(0, 32),
      modifiedAt: new Date(),
      contentType: "text/vtt; charset=utf-8",
      maxAgeSec: null,
      open: async (range) =>
        Readable.from([range === undefined ? text : text.subarray(range.start, range.end + 1)]),
    });
  }
}

async function openObject(
  store: ObjectStore,
  key: string,
  range: { start: number; end: number } | undefined,
): Promise<Readable | FileHandle> {
  const path = store.localPath(key);
  try {
    return path === null ? (await store.get(key, range)).body : await open(path);
  } catch (error) {
    // It has been removed since it was looked at.
    const isGone = error instanceof ObjectMissingError || (error as NodeJS.ErrnoException).code === "ENOENT";
    throw isGone ? nothingHere() : error;
  }
}

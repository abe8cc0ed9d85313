import { type FileHandle, open } from "node:fs/promises";
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { coalesce } from "../../../platform/coalesce.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { LinkSigner } from "../../../platform/crypto/link-signer.ts";
import type { Database } from "../../../platform/db/database.ts";
import { serveObject } from "../../../platform/http/files/serve-object.ts";
import { watch } from "../../../platform/http/files/watch-access.ts";
import { ipPrefixOf } from "../../../platform/http/limits/ip-prefix.ts";
import { applyAllowance, type RateLimiter } from "../../../platform/http/limits/rate-limit.ts";
import { ObjectMissingError, type ObjectStore } from "../../../platform/storage/store.ts";
import type { LinkRow } from "../../../recordings/public-link-records/queries.ts";
import { contentTypes, downloadName } from "../../../recordings/recordings/media/media.ts";
import type { BannerReader } from "../../../recordings/stories/banner.ts";
import { findItems, type Item } from "./items.ts";
import { areActive, linkNotFound, openLink } from "./open.ts";
import { keepOut } from "./page-routes.ts";
import { sharedPath } from "./view.ts";
import type { SharedWords } from "./words.ts";

interface Dependencies {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly signer: LinkSigner;
  readonly limiter: RateLimiter;
  readonly banners: BannerReader;
  readonly words: SharedWords;
  readonly config: Pick<Config, "rateLimitPerMinute">;
}

/** Stored files have their own rate limit, this many times higher, because players request many ranges and pages many images. */
const filesPerRequest = 10;

/**
 * How often to check everything a link depends on while its file is being sent, which takes several statements. Whether it
 * was revoked or has expired is checked more often.
 */
const recheckMs = 5000;

/** The key and content type of an item's file; null for an unknown name. */
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
 * Serves the files of links. Every request checks the link, and the bytes never come from the bucket's own URL, so that a
 * revoked link stops working immediately.
 */
export function sharedFileRoutes(app: FastifyInstance, deps: Dependencies): void {
  const { db, store, signer, limiter, config } = deps;
  const opening = { db: db.kysely, signer };
  const limit = config.rateLimitPerMinute * filesPerRequest;
  const isStillActive = coalesce((ids: readonly string[]) => areActive(db.kysely, ids), {
    concurrency: 1,
    maxItems: 1000,
  });

  app.route({
    method: ["GET", "HEAD"],
    url: `${sharedPath}/:token/items/:item_id/files/:name`,
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      keepOut(reply);
      const { token, item_id: itemId, name } = request.params as Record<string, string>;
      if (limit > 0) await takeAllowance(request, reply, name === "captions.vtt");
      const access = (request.query as { access?: unknown }).access;
      const reopen = async () => {
        const link = await openLink(opening, token ?? "", typeof access === "string" ? access : undefined);
        const item = (await findItems(db.kysely, signer, link)).find(({ id }) => id === itemId);
        if (item === undefined) throw linkNotFound();
        return { link, item };
      };
      const { link, item } = await reopen();
      if (name === "captions.vtt") return sendCaptions(request, reply, item);
      const object = findObject(link, item, name ?? "");
      if (object === null) throw linkNotFound();
      const { key, ...described } = object;
      const info = await store.head(key);
      if (info === null) throw linkNotFound();
      const isStillGood = async (): Promise<boolean> => {
        const now = await reopen();
        return findObject(now.link, now.item, name ?? "")?.key === key;
      };
      watch(reply.raw, () => isStillActive(link.id));
      watch(reply.raw, isStillGood, recheckMs);
      return serveObject(request, reply, {
        ...info,
        ...described,
        maxAgeSec: null,
        open: (range) => openObject(store, key, range),
      });
    },
  });

  /** Captions are rendered by this process, so they count like every other request. */
  async function takeAllowance(request: FastifyRequest, reply: FastifyReply, isRendered: boolean) {
    const prefix = ipPrefixOf(request.ip);
    const allowance = isRendered
      ? await limiter.take(`address:${prefix}`, config.rateLimitPerMinute)
      : await limiter.take(`shared files:${prefix}`, limit);
    applyAllowance(reply, allowance);
  }

  app.get(`${sharedPath}/:token/banner`, async (request, reply) => {
    keepOut(reply);
    if (limit > 0) await takeAllowance(request, reply, false);
    const { token } = request.params as { token: string };
    const access = (request.query as { access?: unknown }).access;
    const link = await openLink(opening, token, typeof access === "string" ? access : undefined);
    const { story_id: storyId } = await db.kysely
      .selectFrom("public_links")
      .select("story_id")
      .where("id", "=", link.id)
      .executeTakeFirstOrThrow(linkNotFound);
    const image = storyId === null ? null : await deps.banners.read(storyId);
    if (image === null) throw linkNotFound();
    return reply.type(image.contentType).send(image.bytes);
  });

  async function sendCaptions(request: FastifyRequest, reply: FastifyReply, item: Item) {
    const read = () => deps.words.read(item, "vtt");
    return serveObject(request, reply, {
      size: async () => (await read()).length,
      etag: deps.words.etagOf(item, "vtt"),
      modifiedAt: new Date(),
      contentType: "text/vtt; charset=utf-8",
      maxAgeSec: null,
      open: async (range) => {
        const text = await read();
        return Readable.from([range === undefined ? text : text.subarray(range.start, range.end + 1)]);
      },
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
    // The object was removed since it was found.
    const isGone = error instanceof ObjectMissingError || (error as NodeJS.ErrnoException).code === "ENOENT";
    throw isGone ? linkNotFound() : error;
  }
}

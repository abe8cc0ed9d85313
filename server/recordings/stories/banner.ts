import { because } from "../../../contract/causes/causes.ts";
import type { Database } from "../../platform/db/database.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import type { FetchedImage, ImageFetcher } from "./image-fetcher.ts";

/** How long a URL that returned no image is not fetched again. */
const retryAfterMs = 10 * 60_000;

/** Concurrent fetches; each may take 2 MiB and 10 seconds. */
const maxConcurrentFetches = 4;

export interface BannerReader {
  /** @returns null when the story has no banner, or its image can't be fetched. @throws ProblemError `unavailable`. */
  read(storyId: string): Promise<FetchedImage | null>;
}

/**
 * Banner images, cached by this server: fetched when first shown, kept until the story's URL changes or the story is
 * deleted.
 */
export function createBannerReader(deps: {
  readonly db: Database;
  readonly images: ImageFetcher;
}): BannerReader {
  const inFlight = new Map<string, Promise<FetchedImage | null>>();

  function find(storyId: string) {
    return deps.db.kysely
      .selectFrom("stories as s")
      .leftJoin("story_banners as b", (join) =>
        join.onRef("b.story_id", "=", "s.id").onRef("b.url", "=", "s.banner_image_url"),
      )
      .select(["s.banner_image_url as url", "b.content_type", "b.bytes", "b.fetched_at"])
      .where("s.id", "=", storyId)
      .executeTakeFirst();
  }

  async function fetchAndStore(storyId: string, url: string): Promise<FetchedImage | null> {
    // Another fetch may have stored it since the caller read the row.
    const stored = await find(storyId);
    if (stored?.url === url && stored.bytes != null && stored.content_type != null)
      return { contentType: stored.content_type, bytes: stored.bytes };
    const image = await deps.images.fetch(url);
    const values = {
      url,
      content_type: image?.contentType ?? null,
      bytes: image?.bytes ?? null,
      fetched_at: new Date(),
    };
    await deps.db.kysely.transaction().execute(async (tx) => {
      // Someone may have deleted the story or changed its banner during the fetch.
      const story = await tx
        .selectFrom("stories")
        .select("id")
        .where("id", "=", storyId)
        .where("banner_image_url", "=", url)
        .forShare()
        .executeTakeFirst();
      if (story === undefined) return;
      await tx
        .insertInto("story_banners")
        .values({ story_id: storyId, ...values })
        .onConflict((conflict) => conflict.column("story_id").doUpdateSet(values))
        .execute();
    });
    return image;
  }

  return {
    async read(storyId) {
      const row = await find(storyId);
      const url = row?.url ?? null;
      if (row === undefined || url === null) return null;
      if (row.bytes !== null && row.content_type !== null)
        return { contentType: row.content_type, bytes: row.bytes };
      if (row.fetched_at !== null && Date.now() - row.fetched_at.getTime() < retryAfterMs) return null;
      const key = `${storyId} ${url}`;
      const running = inFlight.get(key);
      if (running !== undefined) return running;
      if (inFlight.size >= maxConcurrentFetches)
        throw new ProblemError("unavailable", because("images_busy"), {
          headers: { "retry-after": "5" },
        });
      const started = fetchAndStore(storyId, url).finally(() => inFlight.delete(key));
      inFlight.set(key, started);
      return started;
    },
  };
}

import type { World } from "./world.ts";

/** A story whose banner image is already downloaded. @returns its id. */
export async function storyWithBanner(world: World): Promise<string> {
  const storyId = await world.story();
  const url = "https://pictures.example/a.png";
  const { kysely } = world.app.db;
  await kysely.updateTable("stories").set({ banner_image_url: url }).where("id", "=", storyId).execute();
  await kysely
    .insertInto("story_banners")
    .values({ story_id: storyId, url, content_type: "image/png", bytes: Buffer.from("an image") })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return storyId;
}

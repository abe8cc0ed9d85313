import { sql } from "kysely";
import type { z } from "zod";
import type { SharedItem, SharedView } from "../../../../contract/sharing/public-links.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { LinkSigner } from "../../../platform/crypto/link-signer.ts";
import type { Database } from "../../../platform/db/database.ts";
import type { ObjectStore } from "../../../platform/storage/store.ts";
import type { LinkRow } from "../../../recordings/public-link-records/queries.ts";
import { tokenOf } from "../../../recordings/public-link-records/token.ts";
import { contentTypes } from "../../../recordings/recordings/media/media.ts";
import { filesOf, findItems, type Item } from "./items.ts";
import { findSpeakers } from "./transcript-excerpt.ts";

/** Path of the operations for visitors. */
export const sharedPath = "/_/api/v1/shared";

interface Dependencies {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly signer: LinkSigner;
  readonly config: Pick<Config, "baseUrl">;
}

/** A link's title and other fields besides its items. */
interface About {
  readonly title: string;
  readonly description: string | null;
  readonly banner_image_url: string | null;
  readonly workspace: string;
}

/** The view of a link. @param access for links with a password; becomes part of every URL. */
export async function viewLink(
  deps: Dependencies,
  link: LinkRow,
  access: string | undefined,
): Promise<z.input<typeof SharedView>> {
  const about = await findAbout(deps.db, link);
  const items: z.input<typeof SharedItem>[] = [];
  for (const item of await findItems(deps.db.kysely, deps.signer, link))
    items.push(await presentItem(deps, link, item, access));
  return {
    kind: link.kind,
    ...about,
    start: link.start_ms,
    expires_datetime: link.expires_at?.toISOString() ?? null,
    items,
  };
}

export async function findAbout(db: Database, link: LinkRow): Promise<About> {
  const { rows } = await sql<About>`
    select coalesce(r.title, c.text, s.title, '') as title, nullif(s.description, '') as description,
      s.banner_image_url, w.name as workspace
    from public_links l join workspaces w on w.id = l.workspace_id
    left join recordings r on r.id = l.recording_id
    left join public_link_highlights c on c.link_id = l.id and c.highlight_id = l.highlight_id
    left join stories s on s.id = l.story_id
    where l.id = ${link.id}`.execute(db.kysely);
  return rows[0] ?? { title: "", description: null, banner_image_url: null, workspace: "" };
}

/** The URL of an item's file. */
export function fileUrl(
  { signer, config }: Pick<Dependencies, "signer" | "config">,
  link: LinkRow,
  itemId: string,
  name: string,
  access?: string | undefined,
): string {
  const query = link.password_hash === null || access === undefined ? "" : `?access=${access}`;
  return `${config.baseUrl}${sharedPath}/${tokenOf(signer, link.id)}/items/${itemId}/${name}${query}`;
}

async function presentItem(
  deps: Dependencies,
  link: LinkRow,
  item: Item,
  access: string | undefined,
): Promise<z.input<typeof SharedItem>> {
  const url = (name: string) => fileUrl(deps, link, item.id, name, access);
  const files = item.state === "ready" ? await filesOf(deps.store, item) : [];
  const has = (name: string) => (files.includes(name) ? url(`files/${name}`) : null);
  const media = item.format === null ? null : has(`media.${item.format}`);
  const index = has("storyboard.json");
  const speakers = await findSpeakers(deps.db.pool, item);
  const hasWords = speakers.length > 0;
  const sheets = files
    .filter((name) => /^storyboard-\d+\.jpg$/.test(name))
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  return {
    id: item.id,
    title: item.title,
    recording_title: item.recordingTitle,
    start_datetime: item.startDatetime.toISOString(),
    duration: item.durationMs,
    speakers,
    summary: item.summary,
    chapters: [...item.chapters],
    state: item.state,
    content_type: item.state === "transcript_only" || item.format === null ? null : contentTypes[item.format],
    media_url: media,
    thumbnail_url: has("thumbnail.jpg"),
    waveform_url: has("waveform.json"),
    storyboard:
      index === null
        ? null
        : { index_url: index, sheets: sheets.map((name) => ({ name, url: url(`files/${name}`) })) },
    captions_url: hasWords ? url("files/captions.vtt") : null,
    transcript_url: hasWords ? url("transcript") : null,
    download_url: link.allow_download && media !== null ? url("files/download") : null,
  };
}

import type { LinkSigner } from "../../platform/crypto/link-signer.ts";
import { isActive } from "../public-link-records/queries.ts";
import { tokenSql } from "../public-link-records/token.ts";
import { type HighlightContext, highlightJson } from "../recordings/json/highlight.ts";
import { thumbnailLinks } from "../recordings/json/links.ts";

/** The values that a story's JSON needs for its URLs. */
export type StoryLinks = Omit<HighlightContext, "bind"> & {
  /** Creates the public URLs. */
  readonly signer: LinkSigner;
};

export function storyLinks(signer: LinkSigner, baseUrl: string, viewerId: string): StoryLinks {
  return { baseUrl, thumbnails: thumbnailLinks(signer, viewerId), signer };
}

/**
 * Which highlights a story includes: those visible to these principals (`Principal.sees`), those visible to a user (by the
 * user's id), or with null all of them.
 */
export type StoryViewer = readonly string[] | string | null;

/** The SQL expression that turns a row `s` of stories into a Story. */
export function storyJson(viewer: StoryViewer, context: StoryLinks & Pick<HighlightContext, "bind">): string {
  const { bind } = context;
  const baseUrl = `${bind(context.baseUrl)}::text`;
  const isVisible =
    viewer === null
      ? "true"
      : `exists (select 1 from recording_grants g
          where g.recording_id = h.recording_id and g.principal_id = any(${principalsOf(viewer, bind)}))`;
  return `(select row_to_json(q) from (select
    s.id as "id",
    s.title as "title",
    s.description as "description",
    ${baseUrl} || '/stories/' || s.id as "url",
    (select ${baseUrl} || '/s/' || ${tokenSql(bind, context.signer, "l.id")}
      from public_links l where l.story_id = s.id and ${isActive} order by l.created_at, l.id limit 1) as "public_url",
    s.banner_image_url as "banner_image_url",
    parley_timestamp(s.created_at) as "created_datetime",
    parley_timestamp(s.last_edited_at) as "last_edited_datetime",
    s.tags as "tags",
    coalesce((
      select array_to_json(array_agg(${highlightJson(context)} order by sh.position, h.id))
      from story_highlights sh join highlights h on h.id = sh.highlight_id
      where sh.story_id = s.id and ${isVisible}), '[]') as "highlights") q)`;
}

function principalsOf(viewer: readonly string[] | string, bind: HighlightContext["bind"]): string {
  if (typeof viewer !== "string") return `${bind(viewer)}::uuid[]`;
  return `parley_principals(${bind(viewer)}::uuid,
    (select w.members_id from workspaces w where w.id = s.workspace_id))`;
}

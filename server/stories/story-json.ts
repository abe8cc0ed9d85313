import type { LinkSigner } from "../links/signer.ts";
import { thumbnailLinks } from "../recordings/links.ts";
import { type HighlightContext, highlightJson, hmacHex } from "../recordings/recording-json.ts";

/** What the JSON of stories needs for its links. */
export type StoryLinks = Omit<HighlightContext, "bind"> & {
  /** Makes the public addresses. */
  readonly signer: LinkSigner;
};

export function storyLinks(signer: LinkSigner, baseUrl: string, now: Date): StoryLinks {
  return { baseUrl, thumbnails: thumbnailLinks(signer, now), signer };
}

/**
 * Whose highlights a story shows: what these principals see (`Principal.sees`), what a user sees (by the user's id), or
 * with null all of them.
 */
export type StoryViewer = readonly string[] | string | null;

/** The SQL expression that makes the Story of a row `s` of stories. */
export function storyJson(viewer: StoryViewer, context: StoryLinks & Pick<HighlightContext, "bind">): string {
  const { bind } = context;
  const baseUrl = `${bind(context.baseUrl)}::text`;
  const isVisible =
    viewer === null
      ? "true"
      : `exists (select 1 from recording_grants g
          where g.recording_id = h.recording_id and g.principal_id = any(${principalsOf(viewer, bind)}))`;
  return `json_build_object(
    'id', s.id,
    'title', s.title,
    'description', s.description,
    'url', ${baseUrl} || '/stories/' || s.id,
    'public_url', case when s.is_public then ${baseUrl} || '/stories/public/' || ${publicToken(context)} end,
    'banner_image_url', s.banner_image_url,
    'created_datetime', parley_timestamp(s.created_at),
    'last_edited_datetime', parley_timestamp(s.last_edited_at),
    'tags', s.tags,
    'highlights', coalesce((
      select json_agg(${highlightJson(context)} order by sh.position, h.id)
      from story_highlights sh join highlights h on h.id = sh.highlight_id
      where sh.story_id = s.id and ${isVisible}), '[]'))`;
}

/**
 * What makes a public address unguessable: the id without dashes, and 128 bits of an HMAC over id and public_version.
 * Derived rather than stored, so that who reads the database learns no address.
 */
function publicToken({ bind, signer }: StoryLinks & Pick<HighlightContext, "bind">): string {
  const signature = hmacHex(bind, signer.pads("story"), "s.id || E'\\n' || s.public_version");
  return `replace(s.id::text, '-', '') || left(${signature}, 32)`;
}

function principalsOf(viewer: readonly string[] | string, bind: HighlightContext["bind"]): string {
  if (typeof viewer !== "string") return `${bind(viewer)}::uuid[]`;
  return `parley_principals(${bind(viewer)}::uuid,
    (select w.members_id from workspaces w where w.id = s.workspace_id))`;
}

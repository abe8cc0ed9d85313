import { Uuid } from "../../../../contract/common.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { LinkSigner } from "../../../platform/crypto/link-signer.ts";
import type { Database } from "../../../platform/db/database.ts";
import { escapeHtml } from "../../../platform/html.ts";
import { findFirstLink, type LinkRow } from "../../../recordings/public-link-records/queries.ts";
import { tokenOf } from "../../../recordings/public-link-records/token.ts";
import { findItems } from "./items.ts";
import { findByToken } from "./open.ts";
import { fileUrl, findAbout } from "./view.ts";

interface Dependencies {
  readonly db: Database;
  readonly signer: LinkSigner;
  readonly config: Pick<Config, "baseUrl">;
}

/** The HTML document of a link before any script runs, for services that show a preview card. */
export interface SharedPage {
  /** The page shows what is wrong. */
  readonly status: 200 | 404 | 410;
  /** HTML. */
  readonly title: string;
  /** HTML for the head. */
  readonly meta: string;
}

const generic = { title: "Parley", meta: "" };

/** Reveals nothing about an unknown link or one whose password was not entered. */
export async function describePage(deps: Dependencies, token: string): Promise<SharedPage> {
  const found = await findByToken({ db: deps.db.kysely, signer: deps.signer }, token);
  if (found.state === "none") return { status: 404, ...generic };
  if (found.state === "expired") return { status: 410, ...generic };
  if (found.link.password_hash !== null) return { status: 200, ...generic };
  const { title, workspace } = await findAbout(deps.db, found.link);
  return {
    status: 200,
    title: escapeHtml(title),
    meta: await metaOf(deps, found.link, title, workspace),
  };
}

/** Source: the Open Graph protocol, and the tags of X. */
async function metaOf(deps: Dependencies, link: LinkRow, title: string, workspace: string): Promise<string> {
  const items = await findItems(deps.db.kysely, deps.signer, link);
  const shown = items.find((item) => item.state === "ready" && item.format === "mp4");
  const picture = shown && fileUrl(deps, link, shown.id, "files/thumbnail.jpg");
  const properties: [attribute: "property" | "name", name: string, content: string][] = [
    ["property", "og:title", title],
    ["property", "og:site_name", workspace],
    ["property", "og:type", "video.other"],
    ["property", "og:url", `${deps.config.baseUrl}/s/${tokenOf(deps.signer, link.id)}`],
    ["name", "twitter:card", picture === undefined ? "summary" : "summary_large_image"],
    ["name", "twitter:title", title],
  ];
  if (picture !== undefined)
    properties.push(["property", "og:image", picture], ["name", "twitter:image", picture]);
  return properties
    .map(([attribute, name, content]) => `<meta ${attribute}="${name}" content="${escapeHtml(content)}" />`)
    .join("\n    ");
}

/**
 * The link page of a public recording, for visitors who are not signed in.
 * @param query the request's query; `t`, a start time, is kept.
 * @returns the path of its oldest link that works; null where there is none.
 */
export async function publicPageOf(
  { db, signer }: Pick<Dependencies, "db" | "signer">,
  recordingId: string,
  query: unknown,
): Promise<string | null> {
  const id = Uuid.safeParse(recordingId).data;
  const linkId = id && (await findFirstLink(db.kysely, id));
  if (linkId === undefined) return null;
  const { t } = query as { t?: unknown };
  return `/s/${tokenOf(signer, linkId)}${typeof t === "string" ? `?t=${encodeURIComponent(t)}` : ""}`;
}

import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import {
  createHighlightLink,
  createRecordingLink,
  createStoryLink,
  deletePublicLink,
  listHighlightLinks,
  listRecordingLinks,
  listStoryLinks,
  type PublicLink,
  updatePublicLink,
} from "../../contract/sharing/public-links.ts";
import { type Body, call } from "./client/call.ts";

export type LinkBody = z.output<typeof PublicLink>;
export type LinkInput = Body<typeof createRecordingLink>;
export type LinkChange = Body<typeof updatePublicLink>;

/** What a public link shows. */
export interface LinkTarget {
  readonly kind: LinkBody["kind"];
  readonly id: string;
}

/** The public links of a recording, highlight or story. Users who may not share it get 403. */
export function linksQuery(target: LinkTarget) {
  return queryOptions({
    queryKey: ["links", target.kind, target.id],
    queryFn: ({ signal }) => listLinks(target, signal),
  });
}

/** For stories, `highlights` and `shareable` count all highlights and those the user may share. */
export type LinkList = z.output<(typeof listRecordingLinks)["response"]> &
  Partial<z.output<(typeof listStoryLinks)["response"]>>;

function listLinks({ kind, id }: LinkTarget, signal: AbortSignal): Promise<LinkList> {
  if (kind === "recording") return call(listRecordingLinks, { params: { recording_id: id }, signal });
  if (kind === "highlight") return call(listHighlightLinks, { params: { highlight_id: id }, signal });
  return call(listStoryLinks, { params: { story_id: id }, signal });
}

export function createLink(target: LinkTarget, body: LinkInput = {}): Promise<LinkBody> {
  const { kind, id } = target;
  if (kind === "recording") return call(createRecordingLink, { params: { recording_id: id }, body });
  if (kind === "highlight") return call(createHighlightLink, { params: { highlight_id: id }, body });
  return call(createStoryLink, { params: { story_id: id }, body });
}

export function updateLink(linkId: string, body: LinkChange): Promise<LinkBody> {
  return call(updatePublicLink, { params: { link_id: linkId }, body });
}

export function deleteLink(linkId: string) {
  return call(deletePublicLink, { params: { link_id: linkId } });
}

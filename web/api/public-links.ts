import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type {
  createRecordingLink,
  deletePublicLink,
  listRecordingLinks,
  listStoryLinks,
  PublicLink,
  updatePublicLink,
} from "../../contract/recordings/public-links.ts";
import { type CallInput, call, path } from "./client.ts";

export type LinkBody = z.output<typeof PublicLink>;
export type LinkInput = NonNullable<CallInput<typeof createRecordingLink>["body"]>;
export type LinkChange = NonNullable<CallInput<typeof updatePublicLink>["body"]>;

/** What a public link shows. */
export interface LinkTarget {
  readonly kind: LinkBody["kind"];
  readonly id: string;
}

/** The public links of a recording, highlight or story. Users who may not share it get 403. */
export function linksQuery(target: LinkTarget) {
  return queryOptions({
    queryKey: ["links", target.kind, target.id],
    queryFn: ({ signal }): Promise<LinkList> =>
      call<typeof listRecordingLinks>("GET", pathOf(target), { signal }),
  });
}

/** For stories, `highlights` and `shareable` count all highlights and those the user may share. */
export type LinkList = z.output<(typeof listRecordingLinks)["response"]> &
  Partial<z.output<(typeof listStoryLinks)["response"]>>;

export function createLink(target: LinkTarget, body: LinkInput = {}): Promise<LinkBody> {
  return call<typeof createRecordingLink>("POST", pathOf(target), { body });
}

export function updateLink(linkId: string, body: LinkChange): Promise<LinkBody> {
  return call<typeof updatePublicLink>("PATCH", path`/_/api/v1/links/${linkId}`, { body });
}

export function deleteLink(linkId: string) {
  return call<typeof deletePublicLink>("DELETE", path`/_/api/v1/links/${linkId}`);
}

function pathOf({ kind, id }: LinkTarget): string {
  if (kind === "recording") return path`/_/api/v1/recordings/${id}/links`;
  if (kind === "highlight") return path`/_/api/v1/highlights/${id}/links`;
  return path`/_/api/v1/stories/${id}/links`;
}

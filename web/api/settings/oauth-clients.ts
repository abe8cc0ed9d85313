import { infiniteQueryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type * as apps from "../../../contract/accounts/oauth-management.ts";
import { call, path } from "../client.ts";

export type Client = z.output<typeof apps.OAuthClient>;
export type NewClient = z.input<typeof apps.createOAuthClient.body>;
export type ClientChange = z.input<typeof apps.updateOAuthClient.body>;

export const clientsQuery = infiniteQueryOptions({
  queryKey: ["oauth clients"],
  initialPageParam: null as string | null,
  getNextPageParam: (last: z.output<typeof apps.listOAuthClients.response>) => last.cursor,
  queryFn: ({ pageParam, signal }) =>
    call<typeof apps.listOAuthClients>("GET", "/_/api/v1/oauth/clients", {
      signal,
      query: { cursor: pageParam },
    }),
});

export const createClient = (body: NewClient) =>
  call<typeof apps.createOAuthClient>("POST", "/_/api/v1/oauth/clients", { body });

export const updateClient = (id: string, body: ClientChange) =>
  call<typeof apps.updateOAuthClient>("PATCH", path`/_/api/v1/oauth/clients/${id}`, { body });

export const rotateClientSecret = (id: string, overlapSec: number) =>
  call<typeof apps.rotateOAuthClientSecret>("POST", path`/_/api/v1/oauth/clients/${id}/rotate-secret`, {
    body: { overlap_sec: overlapSec },
  });

export const deleteClient = (id: string) =>
  call<typeof apps.deleteOAuthClient>("DELETE", path`/_/api/v1/oauth/clients/${id}`);

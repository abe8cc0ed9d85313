import { infiniteQueryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import * as apps from "../../../contract/accounts/oauth-management.ts";
import { call } from "../client/call.ts";

export type Client = z.output<typeof apps.OAuthClient>;
export type NewClient = z.input<typeof apps.createOAuthClient.body>;
export type ClientChange = z.input<typeof apps.updateOAuthClient.body>;

export const clientsQuery = infiniteQueryOptions({
  queryKey: ["oauth clients"],
  initialPageParam: null as string | null,
  getNextPageParam: (last: z.output<typeof apps.listOAuthClients.response>) => last.cursor,
  queryFn: ({ pageParam, signal }) => call(apps.listOAuthClients, { signal, query: { cursor: pageParam } }),
});

export const createClient = (body: NewClient) => call(apps.createOAuthClient, { body });

export const updateClient = (id: string, body: ClientChange) =>
  call(apps.updateOAuthClient, { params: { client_id: id }, body });

export const rotateClientSecret = (id: string, overlapSec: number) =>
  call(apps.rotateOAuthClientSecret, { params: { client_id: id }, body: { overlap_sec: overlapSec } });

export const deleteClient = (id: string) => call(apps.deleteOAuthClient, { params: { client_id: id } });

import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import * as contract from "../../../contract/accounts/scim-tokens.ts";
import { call } from "../client/call.ts";

export type ScimToken = z.output<typeof contract.listScimTokens.response>["tokens"][number];

export const scimTokensQuery = queryOptions({
  queryKey: ["scim-tokens"],
  queryFn: ({ signal }) => call(contract.listScimTokens, { signal }),
});

export const createScimToken = (name: string) => call(contract.createScimToken, { body: { name } });

export const revokeScimToken = (id: string) =>
  call(contract.revokeScimToken, { params: { scim_token_id: id } });

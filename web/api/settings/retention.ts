import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type * as erasures from "../../../contract/governance/erasures.ts";
import type * as retention from "../../../contract/governance/retention.ts";
import type { listRecordings } from "../../../contract/recordings/recording-operations.ts";
import { call, path } from "../client.ts";

export type Rule = z.output<typeof retention.RetentionRule>;
export type NewRule = z.input<typeof retention.createRetentionRule.body>;
export type Conditions = z.input<typeof retention.previewRetention.body>;
export type Receipt = z.output<typeof retention.listRetentionReceipts.response>["receipts"][number];
export type LegalHold = z.output<typeof retention.LegalHold>;
export type Erasure = z.output<typeof erasures.Erasure>;
export type ErasurePreview = z.output<typeof erasures.previewErasure.response>;
/** What an admin sees of a recording that a rule or "Erase personal data" affects, even without access to it. */
export type NamedRecording = z.output<typeof retention.NamedRecording>;

export const rulesQuery = queryOptions({
  queryKey: ["retention", "rules"],
  queryFn: ({ signal }) =>
    call<typeof retention.listRetentionRules>("GET", "/_/api/v1/retention/rules", { signal }),
});

export const createRule = (body: NewRule) =>
  call<typeof retention.createRetentionRule>("POST", "/_/api/v1/retention/rules", { body });

export const updateRule = (id: string, body: z.input<typeof retention.updateRetentionRule.body>) =>
  call<typeof retention.updateRetentionRule>("PATCH", path`/_/api/v1/retention/rules/${id}`, { body });

export const deleteRule = (id: string) =>
  call<typeof retention.deleteRetentionRule>("DELETE", path`/_/api/v1/retention/rules/${id}`);

/** What a rule with these conditions would delete today. */
export const rulePreviewQuery = (conditions: Conditions) =>
  queryOptions({
    queryKey: ["retention", "preview", conditions],
    queryFn: ({ signal }) =>
      call<typeof retention.previewRetention>("POST", "/_/api/v1/retention/preview", {
        signal,
        body: conditions,
      }),
  });

export const receiptsQuery = infiniteQueryOptions({
  queryKey: ["retention", "receipts"],
  initialPageParam: null as string | null,
  getNextPageParam: (last: z.output<typeof retention.listRetentionReceipts.response>) => last.cursor,
  queryFn: ({ pageParam, signal }) =>
    call<typeof retention.listRetentionReceipts>("GET", "/_/api/v1/retention/receipts", {
      signal,
      query: { cursor: pageParam },
    }),
});

export const holdsQuery = queryOptions({
  queryKey: ["legal holds"],
  queryFn: ({ signal }) => call<typeof retention.listLegalHolds>("GET", "/_/api/v1/legal-holds", { signal }),
});

export const placeHold = (recordingId: string, reason: string) =>
  call<typeof retention.placeLegalHold>("PUT", path`/_/api/v1/recordings/${recordingId}/legal-hold`, {
    body: { reason },
  });

export const releaseHold = (recordingId: string) =>
  call<typeof retention.releaseLegalHold>("DELETE", path`/_/api/v1/recordings/${recordingId}/legal-hold`);

/** The newest recordings the user can see whose title contains these words. */
export const titlesQuery = (words: string) =>
  queryOptions({
    queryKey: ["recording titles", words],
    queryFn: async ({ signal }): Promise<NamedRecording[]> => {
      const { recordings } = await call<typeof listRecordings>("POST", "/_/public-api/v2/recordings", {
        signal,
        body: words === "" ? {} : { filter: { title_search: words } },
      });
      return recordings.map(({ id, title, start_datetime }) => ({ id, title, start_datetime }));
    },
  });

const pollMs = 1500;

/** Runs of "Erase personal data", newest first; polled while one is in progress. */
export const erasuresQuery = infiniteQueryOptions({
  queryKey: ["erasures"],
  initialPageParam: null as string | null,
  getNextPageParam: (last: z.output<typeof erasures.listErasures.response>) => last.cursor,
  refetchInterval: ({ state }) =>
    state.data?.pages.some(({ erasures }) => erasures.some(({ status }) => status !== "done"))
      ? pollMs
      : false,
  queryFn: ({ pageParam, signal }) =>
    call<typeof erasures.listErasures>("GET", "/_/api/v1/erasures", { signal, query: { cursor: pageParam } }),
});

export const erasurePreviewQuery = (email: string) =>
  queryOptions({
    queryKey: ["erasures", "preview", email],
    retry: false,
    // The result may be outdated by the next visit.
    gcTime: 0,
    queryFn: ({ signal }) =>
      call<typeof erasures.previewErasure>("POST", "/_/api/v1/erasures/preview", { signal, body: { email } }),
  });

export const erasePersonalData = (email: string, recordings: Erasure["recordings"]) =>
  call<typeof erasures.erasePersonalData>("POST", "/_/api/v1/erasures", { body: { email, recordings } });

import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import * as erasures from "../../../contract/governance/erasures.ts";
import * as retention from "../../../contract/governance/retention.ts";
import { listRecordings } from "../../../contract/recordings/recording-operations.ts";
import { call } from "../client/call.ts";

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
  queryFn: ({ signal }) => call(retention.listRetentionRules, { signal }),
});

export const createRule = (body: NewRule) => call(retention.createRetentionRule, { body });

export const updateRule = (id: string, body: z.input<typeof retention.updateRetentionRule.body>) =>
  call(retention.updateRetentionRule, { params: { rule_id: id }, body });

export const deleteRule = (id: string) => call(retention.deleteRetentionRule, { params: { rule_id: id } });

/** What a rule with these conditions would delete today. */
export const rulePreviewQuery = (conditions: Conditions) =>
  queryOptions({
    queryKey: ["retention", "preview", conditions],
    queryFn: ({ signal }) => call(retention.previewRetention, { signal, body: conditions }),
  });

export const receiptsQuery = infiniteQueryOptions({
  queryKey: ["retention", "receipts"],
  initialPageParam: null as string | null,
  getNextPageParam: (last: z.output<typeof retention.listRetentionReceipts.response>) => last.cursor,
  queryFn: ({ pageParam, signal }) =>
    call(retention.listRetentionReceipts, { signal, query: { cursor: pageParam } }),
});

export const holdsQuery = queryOptions({
  queryKey: ["legal holds"],
  queryFn: ({ signal }) => call(retention.listLegalHolds, { signal }),
});

export const placeHold = (recordingId: string, reason: string) =>
  call(retention.placeLegalHold, { params: { recording_id: recordingId }, body: { reason } });

export const releaseHold = (recordingId: string) =>
  call(retention.releaseLegalHold, { params: { recording_id: recordingId } });

/** The newest recordings the user can see whose title contains these words. */
export const titlesQuery = (words: string) =>
  queryOptions({
    queryKey: ["recording titles", words],
    queryFn: async ({ signal }): Promise<NamedRecording[]> => {
      const { recordings } = await call(listRecordings, {
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
  queryFn: ({ pageParam, signal }) => call(erasures.listErasures, { signal, query: { cursor: pageParam } }),
});

export const erasurePreviewQuery = (email: string) =>
  queryOptions({
    queryKey: ["erasures", "preview", email],
    retry: false,
    // The result may be outdated by the next visit.
    gcTime: 0,
    queryFn: ({ signal }) => call(erasures.previewErasure, { signal, body: { email } }),
  });

export const erasePersonalData = (email: string, recordings: Erasure["recordings"]) =>
  call(erasures.erasePersonalData, { body: { email, recordings } });

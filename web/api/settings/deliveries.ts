import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import * as contract from "../../../contract/deliveries/deliveries.ts";
import { call } from "../client/call.ts";

export type { Conditions, Destination, DestinationKind } from "../../../contract/deliveries/deliveries.ts";
export type Attempt = z.output<typeof contract.DestinationAttempt>;
export type NewDestination = z.input<typeof contract.createDestination.body>;
export type DestinationChanges = z.input<typeof contract.updateDestination.body>;
export type TestResult = z.output<typeof contract.testDestination.response>;

/** What was sent changes while the page is open. */
const refetchMs = 5000;

export const destinationsQuery = queryOptions({
  queryKey: ["deliveries"],
  refetchInterval: refetchMs,
  queryFn: ({ signal }) => call(contract.listDestinations, { signal }),
});

export const attemptsQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ["deliveries", id, "attempts"],
    refetchInterval: refetchMs,
    initialPageParam: null as string | null,
    getNextPageParam: (last: z.output<typeof contract.listDestinationAttempts.response>) => last.cursor,
    queryFn: ({ pageParam, signal }) =>
      call(contract.listDestinationAttempts, {
        params: { delivery_id: id },
        signal,
        query: { cursor: pageParam },
      }),
  });

export const previewQuery = (body: z.input<typeof contract.previewDestination.body>) =>
  queryOptions({
    queryKey: ["deliveries", "preview", body],
    // While the next one is loading.
    placeholderData: keepPreviousData,
    retry: false,
    queryFn: ({ signal }) => call(contract.previewDestination, { body, signal }),
  });

export const createDestination = (body: NewDestination) => call(contract.createDestination, { body });

export const updateDestination = (id: string, body: DestinationChanges) =>
  call(contract.updateDestination, { params: { delivery_id: id }, body });

export const deleteDestination = (id: string) =>
  call(contract.deleteDestination, { params: { delivery_id: id } });

export const testDestination = (id: string) =>
  call(contract.testDestination, { params: { delivery_id: id } });

export const resendAttempt = (id: string, attemptId: string) =>
  call(contract.resendDestinationAttempt, { params: { delivery_id: id, attempt_id: attemptId } });

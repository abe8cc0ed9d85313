import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type * as contract from "../../../contract/accounts/connections.ts";
import { call, path } from "../client.ts";

export type Connection = z.output<typeof contract.Connection>;
export type ConnectionEvent = z.output<typeof contract.listConnectionEvents.response>["events"][number];
export type NewConnection = z.input<typeof contract.createConnection.body>;

const base = "/_/api/v1/connections";

export const connectionsQuery = queryOptions({
  queryKey: ["connections"],
  queryFn: ({ signal }) => call<typeof contract.listConnections>("GET", base, { signal }),
});

export const connectionEventsQuery = (id: string) =>
  queryOptions({
    queryKey: ["connection events", id],
    queryFn: ({ signal }) =>
      call<typeof contract.listConnectionEvents>("GET", path`/_/api/v1/connections/${id}/events`, { signal }),
    refetchInterval: ({ state }) =>
      state.data?.events.some((event) => event.state === "pending" || event.state === "importing")
        ? 3000
        : 15_000,
  });

export const createConnection = (body: NewConnection) =>
  call<typeof contract.createConnection>("POST", base, { body });

export const deleteConnection = (id: string) =>
  call<typeof contract.deleteConnection>("DELETE", path`/_/api/v1/connections/${id}`);

export const retryConnectionEvent = (id: string, eventId: string) =>
  call<typeof contract.retryConnectionEvent>(
    "POST",
    path`/_/api/v1/connections/${id}/events/${eventId}/retry`,
  );

import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import * as contract from "../../../contract/accounts/connections.ts";
import { call } from "../client/call.ts";

export type Connection = z.output<typeof contract.Connection>;
export type ConnectionEvent = z.output<typeof contract.listConnectionEvents.response>["events"][number];
export type NewConnection = z.input<typeof contract.createConnection.body>;

export const connectionsQuery = queryOptions({
  queryKey: ["connections"],
  queryFn: ({ signal }) => call(contract.listConnections, { signal }),
});

export const connectionEventsQuery = (id: string) =>
  queryOptions({
    queryKey: ["connection events", id],
    queryFn: ({ signal }) => call(contract.listConnectionEvents, { params: { connection_id: id }, signal }),
    refetchInterval: ({ state }) =>
      state.data?.events.some((event) => event.state === "pending" || event.state === "importing")
        ? 3000
        : 15_000,
  });

export const createConnection = (body: NewConnection) => call(contract.createConnection, { body });

export const deleteConnection = (id: string) =>
  call(contract.deleteConnection, { params: { connection_id: id } });

export const retryConnectionEvent = (id: string, eventId: string) =>
  call(contract.retryConnectionEvent, { params: { connection_id: id, event_id: eventId } });

import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type * as management from "../../../contract/webhooks/hook-management.ts";
import type * as hooks from "../../../contract/webhooks/hooks.ts";
import { call, path } from "../client.ts";

export type Hook = z.output<typeof management.HookDetails>;
export type Delivery = z.output<typeof management.Delivery>;
export type DeliveryDetails = z.output<typeof management.DeliveryDetails>;
export type DeliveryState = Delivery["state"];
export type HookType = hooks.HookType;
export type ReplayBody = z.input<typeof management.replayHook.body>;

/** Deliveries change while the page is open. */
const refetchMs = 5000;

/** The user's own webhooks, or for admins those of the workspace. */
export const hooksQuery = (of: "me" | "workspace") =>
  queryOptions({
    queryKey: ["hooks", of],
    refetchInterval: refetchMs,
    queryFn: ({ signal }) =>
      call<typeof management.listAllHooks>("GET", "/_/api/v1/hooks", {
        signal,
        query: { of: of === "me" ? undefined : of },
      }),
  });

export const hookQuery = (id: string) =>
  queryOptions({
    queryKey: ["hook", id],
    refetchInterval: refetchMs,
    queryFn: ({ signal }) => call<typeof management.getHook>("GET", path`/_/api/v1/hooks/${id}`, { signal }),
  });

export const deliveriesQuery = (id: string, state: DeliveryState | null) =>
  infiniteQueryOptions({
    queryKey: ["hook", id, "deliveries", state],
    refetchInterval: refetchMs,
    initialPageParam: null as string | null,
    getNextPageParam: (last: z.output<typeof management.listDeliveries.response>) => last.cursor,
    queryFn: ({ pageParam, signal }) =>
      call<typeof management.listDeliveries>("GET", path`/_/api/v1/hooks/${id}/deliveries`, {
        signal,
        query: { state, cursor: pageParam },
      }),
  });

export const deliveryQuery = (id: string, deliveryId: string) =>
  queryOptions({
    queryKey: ["hook", id, "delivery", deliveryId],
    refetchInterval: refetchMs,
    queryFn: ({ signal }) =>
      call<typeof management.getDelivery>("GET", path`/_/api/v1/hooks/${id}/deliveries/${deliveryId}`, {
        signal,
      }),
  });

export const createHook = (body: z.input<typeof hooks.createHook.body>) =>
  call<typeof hooks.createHook>("POST", "/_/public-api/v2/hooks/create", { body });

export const deleteHook = (id: string) =>
  call<typeof hooks.deleteHook>("DELETE", path`/_/public-api/v2/hooks/${id}`);

export const enableHook = (id: string) =>
  call<typeof management.enableHook>("POST", path`/_/api/v1/hooks/${id}/enable`);

export const disableHook = (id: string) =>
  call<typeof management.disableHook>("POST", path`/_/api/v1/hooks/${id}/disable`);

export const testHook = (id: string) =>
  call<typeof management.testHook>("POST", path`/_/api/v1/hooks/${id}/test`);

export const rotateSecret = (id: string, overlapSec: number) =>
  call<typeof management.rotateHookSecret>("POST", path`/_/api/v1/hooks/${id}/rotate-secret`, {
    body: { overlap_sec: overlapSec },
  });

export const replay = (id: string, body: ReplayBody) =>
  call<typeof management.replayHook>("POST", path`/_/api/v1/hooks/${id}/replay`, { body });

export const resend = (id: string, deliveryId: string) =>
  call<typeof management.resendDelivery>("POST", path`/_/api/v1/hooks/${id}/deliveries/${deliveryId}/resend`);

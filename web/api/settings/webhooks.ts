import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import * as management from "../../../contract/webhooks/hook-management.ts";
import * as hooks from "../../../contract/webhooks/hooks.ts";
import { call } from "../client/call.ts";

export type Hook = z.output<typeof management.HookDetails>;
export type Delivery = z.output<typeof management.Delivery>;
export type DeliveryDetails = z.output<typeof management.DeliveryDetails>;
export type DeliveryState = Delivery["state"];
export type { HookType } from "../../../contract/webhooks/hook-types.ts";
export type ReplayBody = z.input<typeof management.replayHook.body>;

/** Deliveries change while the page is open. */
const refetchMs = 5000;

/** The user's own webhooks, or for admins those of the workspace. */
export const hooksQuery = (of: "me" | "workspace") =>
  queryOptions({
    queryKey: ["hooks", of],
    refetchInterval: refetchMs,
    queryFn: ({ signal }) =>
      call(management.listAllHooks, { signal, query: { of: of === "me" ? undefined : of } }),
  });

export const hookQuery = (id: string) =>
  queryOptions({
    queryKey: ["hook", id],
    refetchInterval: refetchMs,
    queryFn: ({ signal }) => call(management.getHook, { params: { hook_id: id }, signal }),
  });

export const deliveriesQuery = (id: string, state: DeliveryState | null) =>
  infiniteQueryOptions({
    queryKey: ["hook", id, "deliveries", state],
    refetchInterval: refetchMs,
    initialPageParam: null as string | null,
    getNextPageParam: (last: z.output<typeof management.listDeliveries.response>) => last.cursor,
    queryFn: ({ pageParam, signal }) =>
      call(management.listDeliveries, {
        params: { hook_id: id },
        signal,
        query: { state, cursor: pageParam },
      }),
  });

export const deliveryQuery = (id: string, deliveryId: string) =>
  queryOptions({
    queryKey: ["hook", id, "delivery", deliveryId],
    refetchInterval: refetchMs,
    queryFn: ({ signal }) =>
      call(management.getDelivery, { params: { hook_id: id, delivery_id: deliveryId }, signal }),
  });

export const createHook = (body: z.input<typeof hooks.createHook.body>) => call(hooks.createHook, { body });

export const deleteHook = (id: string) => call(hooks.deleteHook, { params: { hook_id: id } });

export const enableHook = (id: string) => call(management.enableHook, { params: { hook_id: id } });

export const disableHook = (id: string) => call(management.disableHook, { params: { hook_id: id } });

export const testHook = (id: string) => call(management.testHook, { params: { hook_id: id } });

export const rotateSecret = (id: string, overlapSec: number) =>
  call(management.rotateHookSecret, { params: { hook_id: id }, body: { overlap_sec: overlapSec } });

export const replay = (id: string, body: ReplayBody) =>
  call(management.replayHook, { params: { hook_id: id }, body });

export const resend = (id: string, deliveryId: string) =>
  call(management.resendDelivery, { params: { hook_id: id, delivery_id: deliveryId } });

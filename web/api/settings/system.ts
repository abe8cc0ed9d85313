import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type * as system from "../../../contract/system.ts";
import { call, path } from "../client.ts";

/** The state of the installation. */
export type SystemState = z.output<typeof system.getSystem.response>;
export type Component = SystemState["components"][number];
export type FailedJob = SystemState["failed_jobs"][number];
export type StorageUse = z.output<typeof system.getStorageUse.response>;
export type Testable = z.output<typeof system.testComponent.params>["component"];

/** How often the page refreshes: processes send a heartbeat as often. */
const refreshMs = 15_000;

export const systemQuery = queryOptions({
  queryKey: ["system", "state"],
  refetchInterval: refreshMs,
  queryFn: ({ signal }) => call<typeof system.getSystem>("GET", "/_/api/v1/system", { signal }),
});

export const storageUseQuery = queryOptions({
  queryKey: ["system", "storage"],
  queryFn: ({ signal }) => call<typeof system.getStorageUse>("GET", "/_/api/v1/system/storage", { signal }),
});

export const testComponent = (component: Testable) =>
  call<typeof system.testComponent>("POST", path`/_/api/v1/system/components/${component}/test`);

export const retryJob = (id: string) =>
  call<typeof system.retryJob>("POST", path`/_/api/v1/system/jobs/${id}/retry`);

/** Imports failed files of a watched folder again: one of them, or all. */
export const retryWatchedFiles = (folder: string, id?: string) =>
  call<typeof system.retryWatchedFiles>("POST", "/_/api/v1/system/watched_files/retry", {
    body: id === undefined ? { folder } : { folder, id },
  });

export const discardJob = (id: string) =>
  call<typeof system.discardJob>("POST", path`/_/api/v1/system/jobs/${id}/discard`);

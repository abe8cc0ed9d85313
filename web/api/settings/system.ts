import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import * as system from "../../../contract/system.ts";
import { call } from "../client/call.ts";

/** The state of the installation. */
export type SystemState = z.output<typeof system.getSystem.response>;
export type Component = SystemState["components"][number];
export type ChecklistStep = NonNullable<SystemState["checklist"]>[number];
export type FailedJob = SystemState["failed_jobs"][number];
export type StorageUse = z.output<typeof system.getStorageUse.response>;
export type Testable = z.output<typeof system.testComponent.params>["component"];

/** How often the page refreshes: processes send a heartbeat as often. */
const refreshMs = 15_000;

export const systemQuery = queryOptions({
  queryKey: ["system", "state"],
  refetchInterval: refreshMs,
  queryFn: ({ signal }) => call(system.getSystem, { signal }),
});

export const dismissChecklist = () => call(system.dismissChecklist);

export const storageUseQuery = queryOptions({
  queryKey: ["system", "storage"],
  queryFn: ({ signal }) => call(system.getStorageUse, { signal }),
});

export const testComponent = (component: Testable) => call(system.testComponent, { params: { component } });

export const retryJob = (id: string) => call(system.retryJob, { params: { job_id: id } });

/** Imports failed files of a watched folder again: one of them, or all. */
export const retryWatchedFiles = (folder: string, id?: string) =>
  call(system.retryWatchedFiles, { body: id === undefined ? { folder } : { folder, id } });

export const discardJob = (id: string) => call(system.discardJob, { params: { job_id: id } });

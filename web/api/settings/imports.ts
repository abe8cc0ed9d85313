import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type * as contract from "../../../contract/uploads/import-runs.ts";
import { call, path } from "../client.ts";

export type ImportRun = z.output<typeof contract.ImportRun>;

export const isRunning = ({ state }: ImportRun): boolean => state === "pending" || state === "running";

export const importRunsQuery = queryOptions({
  queryKey: ["import runs"],
  queryFn: ({ signal }) => call<typeof contract.listImportRuns>("GET", "/_/api/v1/import-runs", { signal }),
  refetchInterval: ({ state }) => (state.data?.runs.some(isRunning) ? 1500 : false),
});

export const importReportQuery = (id: string) =>
  queryOptions({
    queryKey: ["import runs", id],
    queryFn: ({ signal }) =>
      call<typeof contract.getImportReport>("GET", path`/_/api/v1/import-runs/${id}/report`, { signal }),
  });

export const createImportRun = (body: z.input<typeof contract.createImportRun.body>) =>
  call<typeof contract.createImportRun>("POST", "/_/api/v1/import-runs", { body });

export const cancelImportRun = (id: string) =>
  call<typeof contract.cancelImportRun>("DELETE", path`/_/api/v1/import-runs/${id}`);

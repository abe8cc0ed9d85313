import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import * as contract from "../../../contract/uploads/import-runs.ts";
import { call } from "../client/call.ts";

export type ImportRun = z.output<typeof contract.ImportRun>;

export const isRunning = ({ state }: ImportRun): boolean => state === "pending" || state === "running";

export const importRunsQuery = queryOptions({
  queryKey: ["import runs"],
  queryFn: ({ signal }) => call(contract.listImportRuns, { signal }),
  refetchInterval: ({ state }) => (state.data?.runs.some(isRunning) ? 1500 : false),
});

export const importReportQuery = (id: string) =>
  queryOptions({
    queryKey: ["import runs", id],
    queryFn: ({ signal }) => call(contract.getImportReport, { params: { run_id: id }, signal }),
  });

export const createImportRun = (body: z.input<typeof contract.createImportRun.body>) =>
  call(contract.createImportRun, { body });

export const cancelImportRun = (id: string) => call(contract.cancelImportRun, { params: { run_id: id } });

import { queryOptions } from "@tanstack/react-query";
import type {
  getSampleRecordings,
  loadSampleRecordings,
  removeSampleRecordings,
} from "../../contract/uploads/samples.ts";
import { call } from "./client.ts";

const path = "/_/api/v1/sample-recordings";

/** How often to check whether the samples are processed. */
const pendingMs = 1500;

/** How many sample recordings the workspace has, polled while they are processed. */
export const samplesQuery = queryOptions({
  queryKey: ["samples"],
  queryFn: ({ signal }) => call<typeof getSampleRecordings>("GET", path, { signal }),
  refetchInterval: ({ state }) => (state.data !== undefined && state.data.pending > 0 ? pendingMs : false),
});

export function loadSamples() {
  return call<typeof loadSampleRecordings>("POST", path);
}

export function removeSamples() {
  return call<typeof removeSampleRecordings>("DELETE", path);
}

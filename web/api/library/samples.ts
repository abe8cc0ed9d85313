import { queryOptions } from "@tanstack/react-query";
import {
  getSampleRecordings,
  loadSampleRecordings,
  removeSampleRecordings,
} from "../../../contract/uploads/samples.ts";
import { call } from "../client/call.ts";

/** How often to check whether the samples are processed. */
const pendingMs = 1500;

/** How many sample recordings the workspace has, polled while they are processed. */
export const samplesQuery = queryOptions({
  queryKey: ["samples"],
  queryFn: ({ signal }) => call(getSampleRecordings, { signal }),
  refetchInterval: ({ state }) => (state.data !== undefined && state.data.pending > 0 ? pendingMs : false),
});

export function loadSamples() {
  return call(loadSampleRecordings);
}

export function removeSamples() {
  return call(removeSampleRecordings);
}

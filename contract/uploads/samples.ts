import { z } from "zod";
import { operation } from "../operation.ts";

const base = { tag: "Management", gate: "every_version", permission: "admin" } as const;
const path = "/_/api/v1/sample-recordings";

const SampleRecordings = z
  .strictObject({
    total: z.int().meta({ description: "How many sample recordings there are." }),
    loaded: z.int().meta({ description: "How many of them the workspace has." }),
    pending: z.int().meta({ description: "How many of them are being processed." }),
  })
  .meta({ id: "SampleRecordings" });

export const getSampleRecordings = operation({
  ...base,
  id: "getSampleRecordings",
  method: "GET",
  path,
  summary: "Get Sample Recordings",
  description: "Returns how many sample recordings the workspace has.",
  response: SampleRecordings,
  errors: ["forbidden"],
});

export const loadSampleRecordings = operation({
  ...base,
  id: "loadSampleRecordings",
  method: "POST",
  path,
  summary: "Load Sample Recordings",
  description:
    "Creates the sample recordings that the workspace doesn't have yet, with media, transcript and highlights. The caller becomes their recorder. They are processed like imports, with the same events.",
  response: SampleRecordings,
  errors: ["forbidden", "wrong_state"],
});

export const removeSampleRecordings = operation({
  ...base,
  id: "removeSampleRecordings",
  method: "DELETE",
  path,
  summary: "Remove Sample Recordings",
  description: "Permanently deletes the workspace's sample recordings.",
  response: SampleRecordings,
  errors: ["forbidden", "wrong_state"],
});

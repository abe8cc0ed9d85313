import assert from "node:assert/strict";
import { test } from "node:test";
import { discardableJobs, jobKinds as namedKinds } from "../contract/job-kinds.ts";
import { jobKinds } from "./jobs.ts";

test("the contract names every kind of job, and those whose failed jobs can be discarded", () => {
  const sorted = (kinds: Iterable<string>) => [...kinds].sort();
  assert.deepEqual(sorted(namedKinds), sorted(jobKinds.map(({ name }) => name)));
  assert.deepEqual(
    sorted(discardableJobs),
    sorted(jobKinds.filter(({ discard }) => typeof discard !== "string").map(({ name }) => name)),
  );
});

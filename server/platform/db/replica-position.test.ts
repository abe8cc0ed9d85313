import assert from "node:assert/strict";
import { test } from "node:test";
import { holds, StalenessBound } from "./replica-position.ts";

const identity = "7/16384";
const replayed = { identity, position: "16/B374D848", snapshot: "100:105:101,103" };
const required = { identity, now: "16/B374D848", own: null, transaction: null };

test("a replica holds what it has replayed; positions are compared as numbers, not as text", () => {
  assert.equal(holds(replayed, required, "16/B374D848"), true);
  assert.equal(holds(replayed, required, "16/B374D849"), false);
  assert.equal(holds(replayed, required, "9/FFFFFFFF"), true);
  assert.equal(holds(replayed, { ...required, own: "16/B374D849" }, "0/0"), false);
});

test("positions of another database, or of a server that is no replica, are refused", () => {
  const later = { ...replayed, position: "FF/0" };
  assert.throws(() => holds({ ...later, identity: "8/16384" }, required, "0/0"), /not a replica of/);
  assert.throws(() => holds({ ...later, identity: "7/16385" }, required, "0/0"), /not a replica of/);
  assert.throws(() => holds({ ...replayed, position: null }, required, "0/0"), /is not a replica/);
});

test("a transaction is on the replica when its snapshot shows it", () => {
  const shows = (transaction: string) => holds(replayed, { ...required, transaction }, "0/0");
  for (const visible of ["99", "100", "102", "104"]) assert.equal(shows(visible), true, visible);
  for (const missing of ["101", "103", "105", "106"]) assert.equal(shows(missing), false, missing);
});

test("a replica must have what the primary had at most twenty seconds ago", () => {
  const bound = new StalenessBound();
  assert.equal(bound.next("0/1", 0), "0/1");
  assert.equal(bound.next("0/2", 9000), "0/1");
  assert.equal(bound.next("0/3", 10_000), "0/1");
  assert.equal(bound.next("0/4", 20_000), "0/3");
  assert.equal(bound.next("0/5", 29_000), "0/3");
  // Nothing was read for a while.
  assert.equal(bound.next("0/6", 90_000), "0/6");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { UploadStatus } from "../../../../contract/uploads/uploads.ts";
import {
  automaticEvent,
  canPromote,
  canUpdate,
  nextStatus,
  type UploadEvent,
  type UploadState,
  uploadEvents,
} from "./state.ts";

type Kind = "media" | "transcript";

/** The contract's table written out a second time, by hand, as status:event:kind:auto_promote -> status. */
const allowed = new Map<string, UploadStatus>();
function allow(
  from: UploadStatus,
  event: UploadEvent,
  kinds: Kind[],
  auto: boolean[],
  to: UploadStatus,
): void {
  for (const kind of kinds) for (const value of auto) allowed.set(`${from}:${event}:${kind}:${value}`, to);
}
const anyKind: Kind[] = ["media", "transcript"];
const anyAuto = [true, false];
allow("initial", "transcript_accepted", ["transcript"], anyAuto, "staged");
allow("initial", "file_requested", ["media"], anyAuto, "awaiting");
allow("awaiting", "file_received", anyKind, anyAuto, "processing");
allow("awaiting", "url_expired", anyKind, anyAuto, "failure");
allow("processing", "file_validated", anyKind, anyAuto, "staged");
allow("processing", "processing_failed", anyKind, anyAuto, "failure");
allow("staged", "promotion_begun", anyKind, [true], "promoting");
allow("staged", "promotion_requested", anyKind, [false], "promoting");
allow("staged", "media_expired", ["media"], anyAuto, "failure");
allow("promoting", "promotion_completed", anyKind, anyAuto, "success");
allow("promoting", "promotion_failed", anyKind, anyAuto, "failure");
for (const from of ["awaiting", "processing", "staged", "promoting"] as const)
  allow(from, "access_ended", anyKind, anyAuto, "failure");
for (const from of ["awaiting", "processing", "promoting"] as const)
  allow(from, "job_discarded", anyKind, anyAuto, "failure");

function* everyState(): Generator<[UploadState, Kind]> {
  for (const status of UploadStatus.options) {
    for (const mediaType of ["video", "audio", "transcript"] as const) {
      for (const autoPromote of anyAuto)
        yield [{ status, mediaType, autoPromote }, mediaType === "transcript" ? "transcript" : "media"];
    }
  }
}

test("every pair of state and event leads to the contract's status, or is refused", () => {
  let pairs = 0;
  for (const [state, kind] of everyState()) {
    for (const event of uploadEvents) {
      const expected = allowed.get(`${state.status}:${event}:${kind}:${state.autoPromote}`) ?? null;
      assert.equal(nextStatus(state, event), expected, `${JSON.stringify(state)} on ${event}`);
      pairs += 1;
    }
  }
  assert.equal(pairs, 7 * 3 * 2 * uploadEvents.length);
});

test("success and failure are final", () => {
  for (const [state] of everyState()) {
    if (state.status !== "success" && state.status !== "failure") continue;
    for (const event of uploadEvents) assert.equal(nextStatus(state, event), null);
  }
});

test("initial always has an automatic transition, staged only with auto_promote", () => {
  for (const [state, kind] of everyState()) {
    const expected =
      state.status === "initial"
        ? kind === "transcript"
          ? "transcript_accepted"
          : "file_requested"
        : state.status === "staged" && state.autoPromote
          ? "promotion_begun"
          : null;
    assert.equal(automaticEvent(state), expected);
  }
});

test("update is accepted for awaiting, and for staged with auto_promote false; promote only for the latter", () => {
  for (const [state] of everyState()) {
    const isStagedForReview = state.status === "staged" && !state.autoPromote;
    assert.equal(canUpdate(state), state.status === "awaiting" || isStagedForReview);
    assert.equal(canPromote(state), isStagedForReview);
  }
});

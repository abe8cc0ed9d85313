import { t } from "@lingui/core/macro";
import type { z } from "zod";
import { changeRecordings as operation } from "../../../contract/recordings/library.ts";
import { isOutage } from "../client/api-error.ts";
import { call } from "../client/call.ts";
import { loadCauseTexts } from "../client/cause-texts.ts";
import { pause } from "../client/pause.ts";

type Part = z.output<typeof operation.response>;
export type BulkChange = NonNullable<z.input<typeof operation.body>>["change"];

export interface BulkResult {
  readonly done: readonly string[];
  /** What undoing must revert: changed now, or perhaps by a request whose response was lost. */
  readonly changed: readonly string[];
  readonly failed: readonly { readonly id: string; readonly reason: string; readonly isUnknown: boolean }[];
  /** Not tried, because the user stopped. */
  readonly rest: readonly string[];
}

/** Short requests, which no proxy cuts off. */
export const perRequest = 100;

/** Before a request without a response is sent again. */
const retryMs = [1000, 3000];

/**
 * Makes one change to many recordings. A request whose response is lost is sent again: the changes are idempotent.
 * @param options.uncertain recordings whose request got no response; kept by the caller when it tries again after an error.
 * @throws ApiError if nothing was changed.
 */
export async function changeRecordings(
  ids: readonly string[],
  change: BulkChange,
  options: {
    readonly uncertain?: Set<string>;
    readonly onProgress?: (tried: number) => void;
    readonly signal?: AbortSignal;
  } = {},
): Promise<BulkResult> {
  const { uncertain = new Set(), onProgress, signal } = options;
  const done: string[] = [];
  const changed: string[] = [];
  const failed: BulkResult["failed"][number][] = [];
  for (let start = 0; start < ids.length; start += perRequest) {
    if (signal?.aborted) return { done, changed, failed, rest: ids.slice(start) };
    onProgress?.(start);
    try {
      const part = await changeBatch(ids.slice(start, start + perRequest), change, uncertain);
      done.push(...part.done);
      changed.push(...part.changed);
      const texts = part.failed.length === 0 ? null : await loadCauseTexts();
      for (const { recording_id, ...problem } of part.failed) {
        const reason = texts?.problemTexts(problem).text ?? problem.detail;
        failed.push({ id: recording_id, reason, isUnknown: false });
      }
    } catch (error) {
      if (done.length === 0) throw error;
      const reason = error instanceof Error ? error.message : t`The request failed.`;
      const left = ids.slice(start);
      failed.push(...left.map((id) => ({ id, reason, isUnknown: uncertain.has(id) })));
      changed.push(...left.filter((id) => uncertain.has(id)));
      break;
    }
  }
  return { done, changed, failed, rest: [] };
}

async function changeBatch(
  recording_ids: string[],
  change: BulkChange,
  uncertain: Set<string>,
): Promise<Omit<Part, "purge_datetime">> {
  for (let attempt = 0; ; attempt++)
    try {
      const part = await call(operation, { body: { recording_ids, change } });
      return withLostResponse(part, change, uncertain);
    } catch (error) {
      if (!isOutage(error)) throw error;
      for (const id of recording_ids) uncertain.add(id);
      const waitMs = retryMs[attempt];
      if (waitMs === undefined) throw error;
      await pause(waitMs);
    }
}

/** Counts what a request without a response has done: only the first request reports a recording as changed. */
function withLostResponse(part: Part, { kind }: BulkChange, uncertain: ReadonlySet<string>) {
  const isDone = ({ recording_id, error }: Part["failed"][number]) =>
    (kind === "delete" || kind === "restore") && error === "not_found" && uncertain.has(recording_id);
  const done = [...part.done, ...part.failed.filter(isDone).map(({ recording_id }) => recording_id)];
  const changed = new Set(part.changed);
  return {
    done,
    changed: done.filter((id) => changed.has(id) || uncertain.has(id)),
    failed: part.failed.filter((one) => !isDone(one)),
  };
}

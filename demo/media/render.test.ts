import assert from "node:assert/strict";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { renderMedia } from "../../server/processing/media/render/index.ts";
import type { Waveform } from "../../server/processing/media/render/protocol.ts";
import { inFolder } from "../../server/processing/media/render/test/support.ts";
import { validateMedia } from "../../server/processing/media/validate/index.ts";
import { demoMeetings } from "../content/meetings/index.ts";
import { durationOf, truncateMeeting } from "../content/timeline.ts";
import type { DemoMeeting } from "../content/types.ts";
import { renderMeetingFile } from "./render-file.ts";

const limits = { maxDurationSec: 3600, maxBytes: 1e9 };

function firstMeeting(media: DemoMeeting["media"]): DemoMeeting {
  const found = demoMeetings.find((meeting) => meeting.media === media);
  assert.ok(found);
  return found;
}

async function judge(path: string, kind: "video" | "audio") {
  const bytes = await readFile(path);
  const source = {
    size: bytes.length,
    path,
    read: async (start: number, end: number) => bytes.subarray(start, end + 1),
  };
  const judgement = await validateMedia(source, { kind }, limits);
  assert.ok(judgement.ok, JSON.stringify(judgement));
  return judgement.facts;
}

const minutes = 0.75;
let video: Buffer | undefined;

for (const kind of ["video", "audio"] as const)
  test(`the ${kind} file of a meeting needs no conversion, lasts as long as its transcript, and is loud exactly where someone speaks`, () =>
    inFolder(async (folder) => {
      const meeting = firstMeeting(kind);
      const path = join(folder, kind === "video" ? "recording.mp4" : "recording.mp3");
      await renderMeetingFile(meeting, path, minutes);
      if (kind === "video") video = await readFile(path);
      const facts = await judge(path, kind);
      const { segments } = truncateMeeting(meeting, minutes);
      assert.ok(segments.length >= 3);
      assert.ok(facts.isStoredForm);
      assert.ok(Math.abs(facts.durationMs - durationOf(segments)) < 300, `${facts.durationMs} ms`);

      const rendered = await renderMedia({ inputPath: path, facts, outDir: join(folder, "out") });
      assert.equal(rendered.mediaPath, null, "no conversion needed");
      assert.equal(rendered.thumbnail === null, kind === "audio");
      const { peaks, peaks_per_second } = JSON.parse(
        await readFile(rendered.waveform?.path ?? "", "utf8"),
      ) as Waveform;
      const maxPeak = (fromMs: number, toMs: number): number =>
        Math.max(
          ...peaks.slice(Math.ceil((fromMs * peaks_per_second) / 1000), (toMs * peaks_per_second) / 1000),
        );
      for (const [i, { start, end, text }] of segments.entries()) {
        assert.ok(maxPeak(start, end) > 25, text);
        const next = segments[i + 1];
        // 200 ms either side: encoders smear sound over their blocks.
        if (next !== undefined && next.start - end > 500)
          assert.ok(maxPeak(end + 200, next.start - 200) < 12, `after "${text}"`);
      }
    }));

test("rendering the same meeting twice gives identical files", () =>
  inFolder(async (folder) => {
    const path = join(folder, "again.mp4");
    await renderMeetingFile(firstMeeting("video"), path, minutes);
    assert.ok((await stat(path)).size > 50_000);
    assert.ok(video?.equals(await readFile(path)));
  }));

test("an unknown meeting fails with an error that names it", () =>
  inFolder(async (folder) => {
    await assert.rejects(
      renderMeetingFile({ ...firstMeeting("video"), title: "Never held" }, join(folder, "a.mp4"), null),
      /Never held/,
    );
  }));

import assert from "node:assert/strict";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { judgeMedia } from "../../../server/media/judge/index.ts";
import { renderMedia } from "../../../server/media/render/index.ts";
import type { Waveform } from "../../../server/media/render/protocol.ts";
import { inFolder } from "../../../server/media/render/testing-support.ts";
import { demoMeetings } from "../meetings/index.ts";
import { cutShort, lengthOf } from "../script.ts";
import type { DemoMeeting } from "../types.ts";
import { makeFilmFile } from "./make.ts";

const limits = { maxDurationSec: 3600, maxBytes: 1e9 };

function theFirst(media: DemoMeeting["media"]): DemoMeeting {
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
  const judgement = await judgeMedia(source, { kind }, limits);
  assert.ok(judgement.ok, JSON.stringify(judgement));
  return judgement.facts;
}

for (const kind of ["video", "audio"] as const)
  test(`a film of a meeting with ${kind} is taken as it is, as long as its words, and loud where somebody speaks`, () =>
    inFolder(async (folder) => {
      const whole = theFirst(kind);
      const path = join(folder, kind === "video" ? "film.mp4" : "film.mp3");
      await makeFilmFile(whole, path, 0.75);
      const facts = await judge(path, kind);
      const { segments } = cutShort(whole, 0.75);
      assert.ok(segments.length >= 3);
      assert.ok(facts.isStoredForm);
      assert.ok(Math.abs(facts.durationMs - lengthOf(segments)) < 300, `${facts.durationMs} ms`);

      const rendered = await renderMedia({ inputPath: path, facts, outDir: join(folder, "out") });
      assert.equal(rendered.mediaPath, null, "nothing had to be converted");
      assert.equal(rendered.thumbnail === null, kind === "audio");
      const { peaks, peaks_per_second } = JSON.parse(
        await readFile(rendered.waveform.path, "utf8"),
      ) as Waveform;
      const loudest = (fromMs: number, toMs: number): number =>
        Math.max(
          ...peaks.slice(Math.ceil((fromMs * peaks_per_second) / 1000), (toMs * peaks_per_second) / 1000),
        );
      for (const [i, { start, end, text }] of segments.entries()) {
        assert.ok(loudest(start, end) > 25, text);
        const next = segments[i + 1];
        // What an encoder smears over its blocks stays out.
        if (next !== undefined && next.start - end > 500)
          assert.ok(loudest(end + 200, next.start - 200) < 12, `after "${text}"`);
      }
    }));

test("the same meeting gives the same file", () =>
  inFolder(async (folder) => {
    const paths = [join(folder, "a.mp4"), join(folder, "b.mp4")] as const;
    await Promise.all(paths.map((path) => makeFilmFile(theFirst("video"), path, 0.5)));
    assert.ok((await stat(paths[0])).size > 50_000);
    assert.ok((await readFile(paths[0])).equals(await readFile(paths[1])));
  }));

test("a meeting that is none fails with words, not with a broken file", () =>
  inFolder(async (folder) => {
    await assert.rejects(
      makeFilmFile({ ...theFirst("video"), title: "Never held" }, join(folder, "a.mp4"), null),
      /Never held/,
    );
  }));

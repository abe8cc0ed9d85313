import { writeFileSync } from "node:fs";
import { demoMeetings } from "../demo/content/meetings/index.ts";
import { pointsOf } from "../demo/content/points.ts";
import { findLine, truncateMeeting } from "../demo/content/timeline.ts";
import { renderMeetingFile } from "../demo/media/render-file.ts";
import { renderPoints } from "../server/processing/intelligence/generate/points.ts";

/*
 * Writes the sample recordings that admins can load in the web app: the first minutes of some meetings of the demo
 * workspace, without its users. Run again after those meetings or the renderer have changed.
 */

const folder = new URL("../server/operations/samples/assets/", import.meta.url);
const minutes = 1;
const samples = [
  { name: "planning", title: "Heron 2: go or no-go" },
  { name: "demo", title: "Tideline" },
  { name: "call", title: "Flasques" },
] as const;

for (const { name, title } of samples) {
  const found = demoMeetings.find((meeting) => meeting.title.startsWith(title));
  if (found === undefined) throw new Error(`no meeting of the demo starts with "${title}"`);
  const meeting = truncateMeeting(found, minutes);
  const format = meeting.media === "audio" ? "mp3" : "mp4";
  await renderMeetingFile(meeting, new URL(`${name}.${format}`, folder).pathname, minutes);
  const said = new Set(meeting.segments.map(({ key }) => key));
  const isIncluded = (from: string) => meeting.segments.some(({ text }) => text.startsWith(from));
  const sample = {
    name,
    format,
    title: meeting.title,
    language: meeting.language,
    tags: meeting.tags,
    participants: meeting.participants
      .filter(({ key }) => said.has(key))
      .map(({ key, name }) => ({ speaker_key: key, name })),
    segments: meeting.segments.map(({ key, ...segment }) => ({ speaker_key: key, ...segment })),
    highlights: (meeting.highlights ?? [])
      .filter(({ from }) => isIncluded(from))
      .map(({ from, lines, text }) => {
        const first = findLine(meeting.segments, from);
        const start = meeting.segments[first]?.start ?? 0;
        const end = meeting.segments[Math.min(first + lines, meeting.segments.length) - 1]?.end ?? start;
        return { text, timestamp: start, duration: end - start };
      }),
    summary: meeting.summary === undefined ? null : renderPoints(pointsOf(meeting)),
    summary_points: meeting.summary === undefined ? null : pointsOf(meeting),
  };
  writeFileSync(new URL(`${name}.json`, folder), `${JSON.stringify(sample, null, 2)}\n`);
}

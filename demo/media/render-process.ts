import { writeSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { startWatchdog, type Watch } from "../../server/platform/confinement/watchdog.ts";
import { demoMeetings } from "../content/meetings/index.ts";
import { truncateMeeting } from "../content/timeline.ts";

/**
 * Renders one meeting's media file in its own process, because a crash of the native media code ends the process. The
 * argument is a `RenderJob` as JSON; it prints `done` once the file is complete.
 */
export interface RenderJob {
  readonly title: string;
  readonly path: string;
  /** Length to cut the meeting to; null: the whole meeting. */
  readonly minutes: number | null;
  readonly watch: Watch;
}

const { title, path, minutes, watch } = JSON.parse(process.argv[2] ?? "") as RenderJob;
startWatchdog(watch);
const meeting = demoMeetings.find((known) => known.title === title);
if (meeting === undefined) throw new Error(`there is no sample meeting "${title}"`);
const { silenceLibraries } = await import("../../server/processing/media/render/libav.ts");
silenceLibraries();
const { renderMeeting } = await import("./render.ts");
await renderMeeting(minutes === null ? meeting : truncateMeeting(meeting, minutes), path);
// Without an end in order, what was compiled is kept only now.
flushCompileCache();
writeSync(1, "done\n");
// The file is complete. Unloading the native libraries in order takes time and may crash.
process.kill(process.pid, "SIGKILL");

import { formatOf } from "./media-formats.ts";
import { cleanTitle, extension, maxTitleLength } from "./recording-title.ts";

/** What programs and devices write as the title of what they record; it says nothing about the recording. */
// Bounded: titles are cut to `maxTitleLength`, and every repetition is at the end.
const programs = new RegExp(
  `^(?:${[
    "(?:microsoft )?teams(?: meeting)?",
    "zoom(?: (?:meeting|video|audio|recording|cloud recording|video communications))?",
    "(?:google )?meet|webex(?: meetings?)?|gotomeeting|skype|loom|jitsi(?: meet)?|bigbluebutton",
    "obs(?: studio)?|lav[fc]|ffmpeg|gstreamer|handbrake|mencoder|mkvmerge|libmatroska|libebml|libwebm",
    "quicktime(?: player| movie)?|core media (?:video|audio|data handler)|voice ?memos?|garageband|imovie|final cut(?: pro)?",
    "(?:google )?chrome|chromium|firefox|safari|mozilla|webkit|opera|edge",
    "vlc(?: media player)?|windows media(?: player| encoder)?|audacity|camtasia|bandicam|sharex|screenflow|kazam|peek",
    "adobe (?:premiere|media encoder|audition)(?: pro)?|davinci resolve|lame|lavf|isom|mp4",
    "(?:apple )?(?:video|sound|audio) ?(?:media ?)?handler",
    "(?:easy )?(?:voice|sound|audio|screen|video) ?(?:record(?:er|ing)|capture)|recorder",
    "untitled|no ?name|unknown|title|(?:new )?(?:recording|track|video|audio|movie|clip|file|output)",
  ].join("|")})[\\s\\d._:()-]*$`,
  "i",
);

/**
 * A title that is stored in a file; undefined where it is only the name of a program.
 * @param program that wrote the file, if it says so.
 */
export function titleInFile(text: string | null | undefined, program?: string | null): string | undefined {
  const title = cleanTitle((text ?? "").slice(0, 4 * maxTitleLength));
  if (!/\p{L}/u.test(title) || title === program?.trim() || programs.test(title)) return undefined;
  // Some programs write the name of the file.
  return (formatOf(title) === null ? title : cleanTitle(title.replace(extension, ""))) || undefined;
}

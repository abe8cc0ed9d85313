import { formatOf } from "./media-formats.ts";

const maxLength = 500;

/** An extension has a letter: `Budget 1.2` has none. */
const extension = /\.(?=[0-9]{0,4}[a-z])[a-z0-9]{1,5}$/i;

/**
 * The title of a recording by the path of its file: the name without extension, or the name of its folder where the
 * program numbers the files.
 * @param isZoom of recordings of Zoom, whose folders are named by time and topic.
 */
export function titleOfPath(path: string, isZoom = false): string {
  const parts = path.split("/");
  const stem = (parts.at(-1) ?? "").replace(extension, "");
  const isNumbered = /^(?:video|audio)?[\d_ -]*$|^(?:zoom|audio_only)[\d_]*$/i.test(stem);
  const topic = (parts.at(-2) ?? "").replace(/^\d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d */, "").trim();
  return cleanTitle((isZoom || isNumbered) && topic !== "" ? topic : stem);
}

/** What programs and devices write as the title of what they record; it says nothing about the recording. */
// Bounded: titles are cut to `maxLength`, and every repetition is at the end.
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
  const title = cleanTitle((text ?? "").slice(0, 4 * maxLength));
  if (!/\p{L}/u.test(title) || title === program?.trim() || programs.test(title)) return undefined;
  // Some programs write the name of the file.
  return (formatOf(title) === null ? title : cleanTitle(title.replace(extension, ""))) || undefined;
}

/** A title for the name of a file, whose extension isn't repeated: a recording `talk.mp4` is not `talk.mp4.mp4`. */
export function withoutExtension(title: string, format: string): string {
  const stem = title.trimEnd().slice(0, -format.length - 1);
  return title.trimEnd().toLowerCase() === `${stem.toLowerCase()}.${format}` && stem !== "" ? stem : title;
}

function cleanTitle(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes.
  const plain = text.replace(/[\u0000-\u001f\u007f]+/g, " ").trim();
  return plain.slice(0, maxLength).toWellFormed();
}

import { t } from "@lingui/core/macro";

/** The sources of recordings. */
export const sources = [
  "aircall",
  "local_capture",
  "meet",
  "teams",
  "upload",
  "webex",
  "zoom",
  "other",
] as const;

/** The name of a source. */
export function sourceName(source: (typeof sources)[number]): string {
  switch (source) {
    case "aircall":
      return "Aircall";
    case "local_capture":
      return t`Recorded on a computer`;
    case "meet":
      return "Google Meet";
    case "teams":
      return "Microsoft Teams";
    case "upload":
      return t`Uploaded`;
    case "webex":
      return "Webex";
    case "zoom":
      return "Zoom";
    case "other":
      return t`Another service`;
  }
}

/** Labels of recording sources. */
export const sources = {
  aircall: "Aircall",
  local_capture: "Recorded on a computer",
  meet: "Google Meet",
  teams: "Microsoft Teams",
  upload: "Uploaded",
  webex: "Webex",
  zoom: "Zoom",
  other: "Another service",
} as const;

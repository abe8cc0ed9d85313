/** What the readers of transcript files say about them. The web app has its own text for each. */
export const transcriptSentences = {
  transcript_backwards: "ends before it starts",
  transcript_late: "is later than a recording can be long",
  transcript_part_long: "has {count} characters, more than {limit}; split it",
  transcript_cue_long: "has more than {limit} characters",
  transcript_times_unread: "has times that can't be read (“{text}”)",
  transcript_no_times: "is text that belongs to no time",
  transcript_dialogue: "is a dialogue that is too long, or whose times can't be read",
  transcript_paragraph: "is a paragraph without times, or with times that can't be read",
  transcript_no_entry_text: "has no “text”",
  transcript_no_entry_start: "has no “start” that can be read",
  transcript_entry: "entry {number} {reason}",
  transcript_line: "line {number} {reason}",
  transcript_unread_one: "1 part of the file could not be read: {reason}.",
  transcript_unread: "{count} parts of the file could not be read: {reasons}.",
  transcript_unread_more: "{count} parts of the file could not be read: {reasons}; and {more} more.",
  transcript_encoding_mixed:
    "Some lines are not UTF-8 and were read in another encoding; if letters are wrong, save the file as UTF-8.",
  transcript_encoding:
    "The text is not UTF-8 and was read as {encoding}; if letters are wrong, save the file as UTF-8.",
  transcript_no_text: "This file has no text.",
  transcript_no_subtitles: "This file has no subtitles with times and text.",
  transcript_lines: "This transcript has {count} lines. The limit is {limit}.",
  transcript_line_long:
    "A line has {count} characters. The limit is {limit}. Split the line that starts with “{text}”.",
  transcript_characters: "This transcript has {count} characters. The limit is {limit}.",
  transcript_other_json:
    "This JSON file is no transcript. Expected an array of {shape}, or the file of a program around Whisper.",
  transcript_json_incomplete: "This isn't valid JSON. It may be incomplete.",
  transcript_json_line: "This isn't valid JSON: check line {number}.",
  transcript_no_speaker: "Line {number} has no speaker. Write each line as “Name: text”.",
  transcript_name_long: "The speaker name in line {number} has {count} characters. The limit is {limit}.",
} as const;

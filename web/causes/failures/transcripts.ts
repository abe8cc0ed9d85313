import { plural, t } from "@lingui/core/macro";
import type { SentenceValues } from "../../../contract/sentences.ts";
import type { transcriptSentences } from "../../../shared/transcripts/sentences.ts";

/** What can't be read of a transcript file, and what was assumed. Reasons follow a line's number, so they have no capital. */
export const transcriptTexts: {
  readonly [Code in keyof typeof transcriptSentences]: (values: SentenceValues<Code>) => string;
} = {
  transcript_backwards: () => t`it ends before it starts`,
  transcript_late: () => t`it is later than a recording can be long`,
  transcript_part_long: ({ count, limit }) =>
    plural(Number(count), {
      one: `it has # character, more than ${limit}; split it`,
      other: `it has # characters, more than ${limit}; split it`,
    }),
  transcript_cue_long: ({ limit }) =>
    plural(Number(limit), { one: "it has more than # character", other: "it has more than # characters" }),
  transcript_times_unread: ({ text }) => t`it has times that can't be read (“${text}”)`,
  transcript_no_times: () => t`it is text that belongs to no time`,
  transcript_dialogue: () => t`it is a dialogue that is too long, or whose times can't be read`,
  transcript_paragraph: () => t`it is a paragraph without times, or with times that can't be read`,
  transcript_no_entry_text: () => t`it has no “text”`,
  transcript_no_entry_start: () => t`it has no “start” that can be read`,
  transcript_entry: ({ number, reason }) => t`entry ${number}: ${reason}`,
  transcript_line: ({ number, reason }) => t`line ${number}: ${reason}`,
  transcript_unread_one: ({ reason }) => t`1 part of the file could not be read: ${reason}.`,
  transcript_unread: ({ count, reasons }) =>
    plural(Number(count), {
      one: `# part of the file could not be read: ${reasons}.`,
      other: `# parts of the file could not be read: ${reasons}.`,
    }),
  transcript_unread_more: ({ count, reasons, more }) =>
    plural(Number(count), {
      one: `# part of the file could not be read: ${reasons}; and ${more} more.`,
      other: `# parts of the file could not be read: ${reasons}; and ${more} more.`,
    }),
  transcript_encoding_mixed: () =>
    t`Some lines are not UTF-8 and were read in another encoding. If letters are wrong, save the file as UTF-8.`,
  transcript_encoding: ({ encoding }) =>
    t`The text is not UTF-8 and was read as ${encoding}. If letters are wrong, save the file as UTF-8.`,
  transcript_no_text: () => t`This file has no text.`,
  transcript_no_subtitles: () => t`This file has no subtitles with times and text.`,
  transcript_lines: ({ count, limit }) =>
    plural(Number(count), {
      one: `This transcript has # line. The limit is ${limit}.`,
      other: `This transcript has # lines. The limit is ${limit}.`,
    }),
  transcript_line_long: ({ count, limit, text }) =>
    plural(Number(count), {
      one: `A line has # character. The limit is ${limit}. Split the line that starts with “${text}”.`,
      other: `A line has # characters. The limit is ${limit}. Split the line that starts with “${text}”.`,
    }),
  transcript_characters: ({ count, limit }) =>
    plural(Number(count), {
      one: `This transcript has # character. The limit is ${limit}.`,
      other: `This transcript has # characters. The limit is ${limit}.`,
    }),
  transcript_other_json: ({ shape }) =>
    t`This JSON file is no transcript. Expected an array of ${shape}, or the file of a program around Whisper.`,
  transcript_json_incomplete: () => t`This isn't valid JSON. It may be incomplete.`,
  transcript_json_line: ({ number }) => t`This isn't valid JSON: check line ${number}.`,
  transcript_no_speaker: ({ number }) => t`Line ${number} has no speaker. Write each line as “Name: text”.`,
  transcript_name_long: ({ number, count, limit }) =>
    plural(Number(count), {
      one: `The speaker name in line ${number} has # character. The limit is ${limit}.`,
      other: `The speaker name in line ${number} has # characters. The limit is ${limit}.`,
    }),
};

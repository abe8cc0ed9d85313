import { notifications } from "@mantine/notifications";
import { useMemo } from "react";
import { clock } from "./format/time.ts";
import { momentLink } from "./recording-url.ts";

interface Words {
  readonly start: number;
  readonly speaker: string;
  readonly text: string;
}

/** Copies text and shows a notification. */
export function useClipboard() {
  return useMemo(
    () => ({
      /** Copies a link to a position. @param url of the recording. */
      link: (url: string, ms: number) => copy(momentLink(url, ms), `Link to ${clock(ms)} copied`),
      /** Copies a text. @param message to show. */
      text: copy,
      /** Copies transcript lines with speaker and time. */
      words: (lines: readonly Words[]) =>
        copy(
          lines.map(({ start, speaker, text }) => `${speaker} (${clock(start)}): ${text}`).join("\n"),
          "Text copied",
        ),
    }),
    [],
  );
}

async function copy(text: string, message: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notifications.show({ message });
  } catch {
    // Not a secure context, or refused: show the text so that it can be copied manually.
    notifications.show({
      color: "red",
      title: "Couldn't copy. Select and copy it manually.",
      message: text,
      autoClose: false,
    });
  }
}

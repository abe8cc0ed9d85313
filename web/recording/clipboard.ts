import { notifications } from "@mantine/notifications";
import { useMemo } from "react";
import { clock } from "../common/time.ts";
import { momentLink } from "./search-params.ts";

interface Words {
  readonly start: number;
  readonly speaker: string;
  readonly text: string;
}

/** Copies, and says so. */
export function useClipboard() {
  return useMemo(
    () => ({
      /** The link to a moment. @param url of the recording. */
      link: (url: string, ms: number) => copy(momentLink(url, ms), `Link to ${clock(ms)} copied`),
      /** A text as it is. @param what was copied, for the message. */
      text: copy,
      /** Words with who said them and when. */
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
    // Not on a secure address, or refused: the text itself can still be taken by hand.
    notifications.show({
      color: "red",
      title: "The browser did not let this be copied",
      message: text,
      autoClose: false,
    });
  }
}

import { t } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
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
  const { t } = useLingui();
  return useMemo(
    () => ({
      /** Copies a link to a position. @param url of the recording. */
      link: (url: string, ms: number) => {
        const time = clock(ms);
        return copy(momentLink(url, ms), t`Link to ${time} copied`);
      },
      /** Copies a text. @param message to show. */
      text: copy,
      /** Copies a text that is still being fetched. Safari refuses to copy unless it starts with the click. */
      later: copyLater,
      /** Copies transcript lines with speaker and time. */
      words: (lines: readonly Words[]) =>
        copy(
          lines.map(({ start, speaker, text }) => `${speaker} (${clock(start)}): ${text}`).join("\n"),
          t`Text copied`,
        ),
    }),
    [t],
  );
}

async function copy(text: string, message: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notifications.show({ message });
  } catch {
    // Not a secure context, or refused.
    showUncopied(text);
  }
}

/** @returns whether it was copied; false as well if the text can't be fetched, which the caller reports. */
async function copyLater(text: Promise<string>): Promise<boolean> {
  const fetched = text.catch(() => null);
  try {
    const blob = fetched.then((value) => {
      if (value === null) throw new Error("there is no text to copy");
      return new Blob([value], { type: "text/plain" });
    });
    // Where the clipboard is missing, nothing reads the blob.
    blob.catch(() => undefined);
    await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
    return true;
  } catch {
    const value = await fetched;
    if (value !== null) showUncopied(value);
    return false;
  }
}

/** Shows the text so that it can be copied manually. */
function showUncopied(text: string): void {
  notifications.show({
    color: "red",
    title: t`Couldn't copy. Select and copy it manually.`,
    message: text,
    autoClose: false,
  });
}

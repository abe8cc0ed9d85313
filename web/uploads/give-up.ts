import { notifications } from "@mantine/notifications";
import { findTarget } from "../api/uploads.ts";
import { whenInLine } from "../common/time.ts";

/** The version of the protocol that is spoken (tus 1.0). */
const tusVersion = "1.0.0";

/**
 * Gives an upload up: what has arrived of its file is removed from the server at once. The upload itself the server ends
 * when the time for its file is up; until then it waits, empty.
 * @returns whether there was something to give up: what has arrived as a whole goes its way.
 */
export async function giveUp(name: string, uploadId: string, isConverted: boolean): Promise<boolean> {
  const title = `${name} was given up`;
  try {
    const target = await findTarget(uploadId, isConverted);
    if (target === null) {
      notifications.show({
        title: `${name} had arrived already`,
        message: "It stands among your uploads; the recording it becomes can be deleted on its own page.",
      });
      return false;
    }
    const answer = await fetch(target.tus_url, {
      method: "DELETE",
      headers: { "tus-resumable": tusVersion },
    });
    // Nothing of it had arrived: 404 and 410.
    if (!answer.ok && answer.status !== 404 && answer.status !== 410) throw new Error(String(answer.status));
    notifications.show({
      title,
      message: `Nothing more is sent, and what had arrived was removed from the server. The upload ends there by itself: its time is up ${whenInLine(target.expires_at)}.`,
      autoClose: 10_000,
    });
  } catch {
    notifications.show({
      title,
      message:
        "Nothing more is sent. What had arrived could not be removed just now; the server removes it when the time for this upload is up.",
      autoClose: 10_000,
    });
  }
  return true;
}

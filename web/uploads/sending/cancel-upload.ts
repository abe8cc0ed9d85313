import { t } from "@lingui/core/macro";
import { notifications } from "@mantine/notifications";
import { findTarget } from "../../api/uploads.ts";
import { whenInLine } from "../../common/format/time.ts";

/** The tus protocol version. */
const tusVersion = "1.0.0";

/**
 * Cancels an upload: removes the received part of its file from the server. The upload itself expires later, when its time
 * for the file is up.
 * @returns false if the file had already arrived completely, which can't be canceled.
 */
export async function cancelUpload(name: string, uploadId: string, isConverted: boolean): Promise<boolean> {
  const title = t`${name}: upload canceled`;
  try {
    const expiresAt = await removeSent(uploadId, isConverted);
    if (expiresAt === null) {
      notifications.show({
        title: t`${name} is already uploaded`,
        message: t`It is listed in your uploads. You can delete its recording on the recording's page.`,
      });
      return false;
    }
    const when = whenInLine(expiresAt);
    notifications.show({
      title,
      message: t`The uploaded data was removed from the server. The upload expires ${when}.`,
      autoClose: 10_000,
    });
  } catch {
    notifications.show({
      title,
      message: t`The uploaded data couldn't be removed now. The server removes it when the upload expires.`,
      autoClose: 10_000,
    });
  }
  return true;
}

/**
 * Removes the received part of an upload's file from the server.
 * @returns when the upload expires; null if it no longer expects a file.
 * @throws Error when the server can't be reached or refuses.
 */
export async function removeSent(uploadId: string, isConverted: boolean): Promise<string | null> {
  const target = await findTarget(uploadId, isConverted);
  if (target === null) return null;
  const response = await fetch(target.tus_url, {
    method: "DELETE",
    headers: { "tus-resumable": tusVersion },
  });
  // 404 and 410: nothing had arrived.
  if (!response.ok && response.status !== 404 && response.status !== 410)
    throw new Error(`The server refused to remove the uploaded data (status ${response.status}).`);
  return target.expires_at;
}

import type { Config } from "../../../platform/config/config.ts";
import { userName } from "../../../platform/user-name.ts";
import { checkDestination } from "../../backup/folder.ts";
import { type Check, passed, tryCheck, warning } from "./check.ts";

/** Checks that the destination of scheduled backups can be written to, and its backups read. */
export async function checkBackups(config: Config): Promise<Check> {
  const name = "backups";
  const { destination } = config.backup;
  if (destination === null)
    return warning(
      name,
      "No backups are scheduled.",
      "Set PARLEY_BACKUP_TO to a folder on another disk, or to s3://bucket/prefix.",
    );
  const remedy = destination.startsWith("s3://")
    ? "Check PARLEY_BACKUP_TO, that its bucket exists at PARLEY_S3_ENDPOINT (or Amazon), and that the AWS credentials may list, read, write and delete there (s3:ListBucket, s3:GetObject, s3:PutObject, s3:DeleteObject). With PARLEY_BACKUP_PASSPHRASE, it must be that of the backups there."
    : `Mount the volume of PARLEY_BACKUP_TO, writable, and give the folder to the user that runs Parley: chown -R ${userName()} ${destination}. With PARLEY_BACKUP_PASSPHRASE, it must be that of the backups there.`;
  return tryCheck(name, remedy, async () => {
    await checkDestination(destination, config);
    return passed(
      name,
      `Backups are stored in ${destination} every day; a test file could be written there.`,
    );
  });
}

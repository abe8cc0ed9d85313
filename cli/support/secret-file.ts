import { join } from "node:path";
import { writeWhole } from "../../server/platform/db/embedded/files.ts";

/**
 * Keeps secrets out of logs and pipes: unless the stream is a terminal, writes the text to a file that only this user can
 * read.
 * @param stream the stream that the caller would print to.
 * @param name file name in the data folder; an existing file is replaced.
 * @returns the file's path; null on a terminal, where the caller prints the text.
 */
export async function writeSecretFile(
  stream: { readonly isTTY?: boolean },
  dataDir: string,
  name: string,
  text: string,
): Promise<string | null> {
  if (stream.isTTY) return null;
  const path = join(dataDir, name);
  await writeWhole(path, text, 0o600);
  return path;
}

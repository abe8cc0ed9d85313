import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { PortableEntry } from "../../../contract/portable.ts";
import { readExport, readMetadata } from "../../exports/verify.ts";
import { ImportError, RecordingError } from "../move/errors.ts";
import type { ImportSource, SourceItem } from "../move/source.ts";

const Entries = z.array(PortableEntry);
const WordTimes = z.array(z.array(z.int().nullable()).nullable());

/** An export of Parley, as `parley export` writes it. @throws ImportError when the folder is none. */
export async function parleyFolder(folder: string): Promise<ImportSource> {
  const { workspace, recordings } = await readExport(folder).catch((error: Error) => {
    throw new ImportError(error.message);
  });
  const itemOf = async (id: string): Promise<SourceItem> => {
    const metadata = await readMetadata(folder, id).catch((error: Error) => error);
    return {
      oldId: id,
      mediaType: metadata instanceof Error ? "transcript" : metadata.media_type,
      async load() {
        if (metadata instanceof Error) throw new RecordingError(`metadata.json ${metadata.message}`);
        const { files, ...recording } = metadata;
        const has = (name: string): boolean => files.some((file) => file.name === name);
        const entries = await readJson(join(folder, id, "transcript.json"), Entries);
        const times = has("word-times.json")
          ? await readJson(join(folder, id, "word-times.json"), WordTimes)
          : null;
        const format = (["mp4", "mp3"] as const).find((one) => has(`media.${one}`));
        return {
          recording,
          entries: entries.map((entry, index) => ({ ...entry, word_times: times?.[index] ?? null })),
          openMedia:
            format === undefined
              ? null
              : async () => {
                  const path = join(folder, id, `media.${format}`);
                  await stat(path).catch(() => {
                    throw new RecordingError(`media.${format} is missing`);
                  });
                  return { format, body: createReadStream(path, { highWaterMark: 1 << 20 }) };
                },
        };
      },
    };
  };
  return {
    kind: "parley",
    origin: workspace.id,
    emails: async () => null,
    async *list() {
      for (const id of recordings) yield await itemOf(id);
    },
  };
}

async function readJson<T>(path: string, schema: z.ZodType<T>): Promise<T> {
  try {
    return schema.parse(JSON.parse(await readFile(path, "utf8")));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new RecordingError(
      code === "ENOENT" ? `${path} is missing` : `${path} is not the JSON of an export`,
    );
  }
}

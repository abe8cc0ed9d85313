import { createReadStream } from "node:fs";
import { z } from "zod";
import { PortableEntry, type PortableRecording } from "../../../../contract/recordings/portable.ts";
import { checkFile, readExport, readMetadata } from "../../exports/verify.ts";
import { fileBelow, readText } from "./disk.ts";
import { ImportError, RecordingError } from "./errors.ts";
import type { ImportSource, SourceItem } from "./source.ts";

const Entries = z.array(PortableEntry);
type FileEntry = PortableRecording["files"][number];
const WordTimes = z.array(z.array(z.int().nullable()).nullable());

/** An export of Parley, as `parley export` writes it. @throws ImportError when the folder is none. */
export async function parleyFolder(folder: string): Promise<ImportSource> {
  const { workspace, recordings } = await readList(folder).catch((error: Error) => {
    throw new ImportError(error.message);
  });
  const itemOf = async (id: string): Promise<SourceItem> => {
    const metadata = await fileBelow(folder, `${id}/metadata.json`)
      .then(() => readMetadata(folder, id))
      .catch((error: Error) => error);
    return {
      oldId: id,
      mediaType: metadata instanceof Error ? "transcript" : metadata.media_type,
      async load() {
        if (metadata instanceof Error) throw new RecordingError(`metadata.json ${metadata.message}`);
        const { files, ...recording } = metadata;
        const find = (name: string) => files.find((file) => file.name === name);
        const entries = await readJson(folder, id, find("transcript.json"), Entries);
        const timesFile = find("word-times.json");
        const times = timesFile === undefined ? null : await readJson(folder, id, timesFile, WordTimes);
        const format = (["mp4", "mp3"] as const).find((one) => find(`media.${one}`) !== undefined);
        const media = find(`media.${format}`);
        return {
          recording,
          entries: entries.map((entry, index) => ({ ...entry, word_times: times?.[index] ?? null })),
          openMedia:
            format === undefined || media === undefined
              ? null
              : async () => {
                  const path = await intactFile(folder, id, media);
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

async function readList(folder: string) {
  await fileBelow(folder, "export.json").catch((error: Error) => {
    // Which of the reasons a list is missing for, its reader says.
    if (!error.message.endsWith("is missing")) throw error;
  });
  return readExport(folder);
}

/** Reads a JSON file of a recording. @throws RecordingError when it isn't what was exported. */
async function readJson<T>(
  folder: string,
  id: string,
  file: FileEntry | undefined,
  schema: z.ZodType<T>,
): Promise<T> {
  if (file === undefined) throw new RecordingError("metadata.json names no transcript.json");
  const text = await readText(await intactFile(folder, id, file));
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new RecordingError(`${file.name} is not the JSON of an export`);
  }
}

/** The path of a file. @throws RecordingError when it is not the one that was exported. */
async function intactFile(folder: string, id: string, file: FileEntry): Promise<string> {
  const path = await fileBelow(folder, `${id}/${file.name}`);
  const problem = await checkFile(path, file);
  if (problem !== null) throw new RecordingError(`${file.name} ${problem}`);
  return path;
}

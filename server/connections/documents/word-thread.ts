import { parentPort, workerData } from "node:worker_threads";
import { Packer } from "docx";
import { toWord } from "./word.ts";
import type { WordTask } from "./word-writer.ts";

/*
 * The thread that writes a Word document; see word-writer.ts.
 */

const { document, timeZone } = workerData as WordTask;
const bytes = Uint8Array.from(await Packer.toBuffer(toWord(document, timeZone)));
parentPort?.postMessage(bytes, [bytes.buffer]);

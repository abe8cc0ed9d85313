import { closeSync, openSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { type Bytes, fileBytes } from "./bytes.ts";
import { ReadFailedError } from "./errors.ts";
import { examine } from "./examine.ts";
import { type Message, maxReadBytes, slot, slotBytes, type Task } from "./protocol.ts";

/** The validation thread: validates one file and ends. */
const task = workerData as Task;
const slots = new Int32Array(task.shared, 0, 2);
const say = (message: Message): void => parentPort?.postMessage(message);
const onRead = (): void => {
  Atomics.add(slots, slot.progress, 1);
};

say({ type: "ready" });
try {
  say({ type: "result", result: validate() });
} catch (error) {
  if (!(error instanceof ReadFailedError)) throw error;
  say({ type: "unreadable", message: error.message });
}

function validate() {
  if (task.path === null) return examine(askedBytes(), task.expectation, task.limits);
  const descriptor = open(task.path);
  try {
    return examine(readable(fileBytes(descriptor, task.size, onRead)), task.expectation, task.limits);
  } finally {
    closeSync(descriptor);
  }
}

function open(path: string): number {
  try {
    return openSync(path, "r");
  } catch (error) {
    throw new ReadFailedError((error as Error).message);
  }
}

/** A disk error is not an error of the file. */
function readable(bytes: Bytes): Bytes {
  return {
    ...bytes,
    readInto(target, start) {
      try {
        bytes.readInto(target, start);
      } catch (error) {
        throw error instanceof ReadFailedError ? error : new ReadFailedError((error as Error).message);
      }
    },
  };
}

/** Bytes that the main thread fetches; it ends this thread when it cannot. */
function askedBytes(): Bytes {
  const answer = new Uint8Array(task.shared, slotBytes);
  return {
    size: task.size,
    blockBytes: maxReadBytes,
    probeBytes: 1 << 16,
    readInto(target, start) {
      for (let done = 0; done < target.length; ) {
        const length = Math.min(maxReadBytes, target.length - done);
        Atomics.store(slots, slot.ready, 0);
        say({ type: "read", start: start + done, end: start + done + length - 1 });
        Atomics.wait(slots, slot.ready, 0);
        target.set(answer.subarray(0, length), done);
        done += length;
        onRead();
      }
    },
  };
}

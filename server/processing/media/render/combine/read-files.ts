import { AV_NOPTS_VALUE } from "node-av/constants";
import type { Packet, Stream } from "node-av/lib";
import type { MediaContainer } from "../../../../../shared/files/media-formats.ts";
import { moveEarlier, startOf } from "../clock.ts";
import { closeInput, type Input, openInput, packetsOf, readOnly, secondsOf } from "../libav.ts";

/** One of the files that are combined. */
export interface FileToCombine {
  readonly path: string;
  readonly container: MediaContainer;
  readonly range?: { readonly start: number; readonly end: number } | undefined;
  /** Where it begins in the recording. */
  readonly startSec: number;
  readonly durationMs: number;
}

/** What is done with the packets of a track. */
export interface PacketUser {
  readonly source: Stream;
  push(packet: Packet): void;
  finish(): void;
  close(): void;
}

interface Reading {
  readonly file: FileToCombine;
  readonly input: Input;
  readonly users: readonly PacketUser[];
  readonly packets: Generator<Packet, void, void>;
  readonly shiftSec: number;
  atSec: number;
}

/**
 * Reads files in the order of their time in the recording: one after the other where they are parts of it, in turn where
 * they were recorded at the same time.
 * @param open decides which tracks of a file are read; called when its turn comes.
 */
export function readFiles(
  files: readonly FileToCombine[],
  open: (file: FileToCombine, input: Input) => PacketUser[],
  onTime: (sec: number) => void,
): void {
  const waiting = files.toSorted((a, b) => a.startSec - b.startSec);
  const reading: Reading[] = [];
  try {
    for (;;) {
      const next = reading.reduce<Reading | null>(
        (first, one) => (first === null || one.atSec < first.atSec ? one : first),
        null,
      );
      const [file] = waiting;
      if (file !== undefined && (next === null || file.startSec <= next.atSec)) {
        reading.push(start(file, open));
        waiting.shift();
      } else if (next === null) return;
      else if (!step(next, onTime)) reading.splice(reading.indexOf(next), 1);
    }
  } finally {
    for (const one of reading) end(one);
  }
}

function start(file: FileToCombine, open: (file: FileToCombine, input: Input) => PacketUser[]): Reading {
  const input = openInput(file.path, file.container, file.range);
  const users = open(file, input);
  readOnly(input, ...users.map(({ source }) => source));
  const shiftSec = startOf(input, file.container);
  return { file, input, users, packets: packetsOf(input), shiftSec, atSec: file.startSec };
}

/** @returns whether there was another packet. */
function step(reading: Reading, onTime: (sec: number) => void): boolean {
  const { value: packet, done } = reading.packets.next();
  if (done || packet === undefined) {
    for (const user of reading.users) user.finish();
    end(reading);
    return false;
  }
  const user = reading.users.find(({ source }) => source.index === packet.streamIndex);
  if (user === undefined) return true;
  if (reading.shiftSec !== 0) moveEarlier(packet, reading.shiftSec, user.source);
  const sec = secondsOf(packet.dts === AV_NOPTS_VALUE ? packet.pts : packet.dts, user.source);
  if (sec !== null) reading.atSec = Math.max(reading.atSec, reading.file.startSec + sec);
  onTime(reading.atSec);
  user.push(packet);
  return true;
}

function end({ users, packets, input }: Reading): void {
  packets.return();
  for (const user of users) user.close();
  closeInput(input);
}

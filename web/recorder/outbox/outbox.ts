import type { UploadSource } from "../../../shared/files/send-in-chunks.ts";
import { type Piece, readPiece, removePiece } from "./pieces.ts";

/** A running recording is sent in parts of about this many pieces, a second each. */
const piecesPerRequest = 4;

/** The pieces of a recording on their way to the server. */
export interface Outbox extends UploadSource {
  add(piece: Piece): void;
  /** No piece will be added. */
  complete(): void;
  isComplete(): boolean;
  /**
   * Removes the pieces before an offset that the server has stored, after those of earlier calls. The first one stays in
   * the folder: without the beginning of the file, the others don't play.
   */
  acknowledge(offset: number): Promise<void>;
  /** Bytes recorded so far. */
  total(): number;
  /** Milliseconds recorded so far, as far as they are stored. */
  endMs(): number;
}

/** @param stored the pieces of an earlier visit. */
export function createOutbox(folder: FileSystemDirectoryHandle, stored: readonly Piece[] = []): Outbox {
  let pieces = [...stored];
  let isComplete = false;
  let end = endOf(stored.at(-1));
  let endMs = stored.at(-1)?.endMs ?? 0;
  let removing: Promise<void> = Promise.resolve();
  let wake = Promise.withResolvers<void>();

  const changed = (): void => {
    wake.resolve();
    wake = Promise.withResolvers<void>();
  };

  return {
    size: null,
    hasBeginning: () => end === 0 || pieces[0]?.start === 0,
    total: () => end,
    endMs: () => endMs,
    add(piece) {
      pieces.push(piece);
      end = endOf(piece);
      endMs = piece.endMs;
      changed();
    },
    isComplete: () => isComplete,
    complete() {
      isComplete = true;
      changed();
    },
    acknowledge(offset) {
      // The last one stays: its name says how long the recording is.
      const done = pieces.slice(0, -1).filter((piece) => endOf(piece) <= offset);
      pieces = pieces.filter((piece) => !done.includes(piece));
      // A piece that can't be removed now goes with the folder.
      removing = removing.then(async () => {
        for (const piece of done)
          if (piece.start > 0) await removePiece(folder, piece).catch(() => undefined);
      });
      return removing;
    },
    async slice(start, limit) {
      const waiting = () => pieces.filter((piece) => endOf(piece) > start);
      while (!isComplete && waiting().length < piecesPerRequest && end < limit) await wake.promise;
      const wanted = waiting().filter((piece) => piece.start < limit);
      if (start > end) throw new LostPartError("The server has more of this recording than this browser.");
      if (wanted.length === 0 && start === end) return { value: null, done: isComplete };
      if ((wanted[0]?.start ?? Number.POSITIVE_INFINITY) > start)
        throw new LostPartError("The server no longer has the beginning of this recording.");
      // Decided before reading: what is added meanwhile belongs to the next request.
      const done = isComplete && limit >= end;
      const parts: Blob[] = [];
      for (const piece of wanted) {
        const file = await readPiece(folder, piece);
        parts.push(file.slice(Math.max(0, start - piece.start), limit - piece.start));
      }
      return { value: new Blob(parts), done };
    },
  };
}

/** The server asks for bytes that are not stored here. */
class LostPartError extends Error {
  override readonly name = "LostPartError";
}

function endOf(piece: Piece | undefined): number {
  return piece === undefined ? 0 : piece.start + piece.size;
}

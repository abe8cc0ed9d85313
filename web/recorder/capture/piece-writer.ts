import { type Piece, pieceName } from "../outbox/pieces.ts";

/** Only threads have this way to write; it is the one that survives when the browser is killed. */
interface SyncAccessHandle {
  write(bytes: Uint8Array<ArrayBuffer>, options: { readonly at: number }): number;
  flush(): void;
  close(): void;
}

/** Stores pieces one after another. */
export function createPieceWriter(folder: FileSystemDirectoryHandle, onStored: (piece: Piece) => void) {
  let start = 0;
  let writing: Promise<void> = Promise.resolve();

  async function store(piece: Piece, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const file = await folder.getFileHandle(pieceName(piece), { create: true });
    const access = await (
      file as FileSystemFileHandle & { createSyncAccessHandle(): Promise<SyncAccessHandle> }
    ).createSyncAccessHandle();
    try {
      for (let at = 0; at < bytes.length; ) {
        const written = access.write(bytes.subarray(at), { at });
        if (written === 0) throw new DOMException("nothing was written", "QuotaExceededError");
        at += written;
      }
      access.flush();
    } finally {
      access.close();
    }
    onStored(piece);
  }

  return {
    /** @returns a promise that resolves once this piece and all before it are stored. */
    write(bytes: Uint8Array<ArrayBuffer>, endMs: number): Promise<void> {
      const piece = { start, size: bytes.length, endMs };
      start += bytes.length;
      writing = writing.then(() => store(piece, bytes));
      return writing;
    },
  };
}

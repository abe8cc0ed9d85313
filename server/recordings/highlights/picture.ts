import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { z } from "zod";
import { recordingObjectKey } from "../../platform/storage/layout.ts";
import { ObjectMissingError, type ObjectStore } from "../../platform/storage/store.ts";

/** The parts of a storyboard index that locate a tile (StoryboardIndex in server/processing/media/render/protocol.ts). */
const Storyboard = z.object({
  tile_width: z.int().positive(),
  tile_height: z.int().positive(),
  columns: z.int().positive(),
  rows: z.int().positive(),
  interval_ms: z.int().positive(),
  count: z.int().positive(),
});

/** A sheet has 200 tiles of at most 160 × 284 pixels. */
const maxSheetPixels = 10_000_000;

/** The sheet and pixel position of the tile nearest to a time. */
export function tileAt(storyboard: z.output<typeof Storyboard>, timeMs: number) {
  const { columns, rows, tile_width: width, tile_height: height } = storyboard;
  const index = Math.min(storyboard.count - 1, Math.round(timeMs / storyboard.interval_ms));
  const onSheet = index % (columns * rows);
  return {
    sheet: Math.floor(index / (columns * rows)),
    left: (onSheet % columns) * width,
    top: Math.floor(onSheet / columns) * height,
    width,
    height,
  };
}

/**
 * Cuts the tile nearest to a time out of a recording's storyboard. The server wrote the sheets itself, so they can be
 * decoded in this process without confinement.
 * @returns a JPEG, or null where the storyboard or a library for pictures is missing.
 */
export async function cutTile(
  store: ObjectStore,
  recordingId: string,
  timeMs: number,
): Promise<Buffer | null> {
  const index = await readObject(store, recordingObjectKey(recordingId, "storyboard.json"));
  if (index === null) return null;
  const { sheet, ...area } = tileAt(Storyboard.parse(JSON.parse(index.toString())), timeMs);
  const picture = await readObject(store, recordingObjectKey(recordingId, `storyboard-${sheet}.jpg`));
  if (picture === null) return null;
  // Loaded on first use, because a server with transcripts only never needs it.
  const { default: sharp } = await import("sharp");
  return sharp(picture, { limitInputPixels: maxSheetPixels }).extract(area).jpeg({ quality: 80 }).toBuffer();
}

/** Reads a small object; null when it does not exist. */
export async function readObject(store: ObjectStore, key: string): Promise<Buffer | null> {
  let body: Readable;
  try {
    body = (await store.get(key)).body;
  } catch (error) {
    if (error instanceof ObjectMissingError) return null;
    throw error;
  }
  return buffer(body);
}

/** The placeholder without a thumbnail: 320 × 180 pixels, a grey field with a few waveform bars. */
export const neutralPicture = Buffer.from(
  [
    "/9j/2wBDABAQEBAREBIUFBIZGxgbGSUiHx8iJTgoKygrKDhVNT41NT41VUtbSkVKW0uHal5eaoecg3yDnL2pqb3u4u7/////wgAL",
    "CAC0AUABAREA/8QAGgABAQEBAQEBAAAAAAAAAAAAAAQDAgUBBv/aAAgBAQAAAAD9cAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    "AAAAAAAB8+gAAAAAnozkvMdgAAAAccw2dS8ek8y/QAAAAY88T6b4Z1dxPSfQAAAMYq+J9N8M6O5FmfdAAAAPP4r4n03wzo7kV8Ye",
    "kAAABBvxPpvhnR3Iv43AAAAMM59d587+vO2tAAAAA830s5N6EF4AAAAA5wpAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    "AAAAAAAAB//EAC8QAAEDAwIEAwgDAQAAAAAAAAIAAQMEM3IRgRI0Q7EhQEQQFDFBUHGDwSBRgCL/2gAIAQEAAT8A/wABsQl8HZ/o",
    "o1DFM8fD83bX7eyW1Ji6oept/COcJScR18PPyG0YEWmuihlaUOLTTx0UfOPkSnnaHh/511RlxQEX9g/ZUPU2Ujv742Q+2iulijlj",
    "B2Yi0d/OyThETCWviqqwe3dUVoslHzj5Eq7p7r0v4v0qHqbKTnGyFVZEMbcLu2pKnJyhB3fV1RXSxVbdHFO7M2rpnYm1Z2dvNRzh",
    "KTiOvgq26OKqrB7d1RWiyUfOPkSrunuvS/i/SoepspOcbIVW2hyVLYDfuqK6WKrbo4qqsHt3VFaLJDUMUzx8Pzdtft5mljMJCchd",
    "vBVt0cVVWD27qitFko+cfIlXdPdel/F+lQ9TZSc42QqttDkqWwG/dUV0sVW3RxVVYPbuqK0WSjZ/fHyLzVVGZyC4i7+CqrB7d1RW",
    "iyUfOPkSrunuvS/i/SoepspOcbIVW2hyVLYDfuqK6WKrbo4qUHkjIW+agieIOF3Z31185U2D2VHafJR84+RKta3uvTfi/SoepspO",
    "cbIVJGMo8JIAYBYW+DKiuliqmCSSQXFvDTT6BGz++PkXsltSYuqHqbIqdimaTi+bPp9vbSxmEhOQu3h9DMeICH+2dlTwlFxau3j/",
    "AIt//9k=",
  ].join(""),
  "base64",
);

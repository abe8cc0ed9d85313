/** A file of a ZIP archive. */
export interface ZipFile {
  readonly name: string;
  readonly blob: Blob;
  /** By `crc32`. */
  readonly crc: number;
  readonly modified: Date;
}

/** Sizes and offsets have 32 bits. */
export const maxZipBytes = 4_000_000_000;

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** Continues a CRC-32 with more bytes. @param crc of the bytes before; 0 at first. */
export function crc32(bytes: Uint8Array, crc = 0): number {
  let value = ~crc;
  for (const byte of bytes) value = (value >>> 8) ^ (table[(value ^ byte) & 0xff] ?? 0);
  return ~value >>> 0;
}

/**
 * A ZIP archive of files as they are: audio and video don't get smaller. The browser copies nothing; large blobs stay on its
 * disk.
 */
export function zipOf(files: readonly ZipFile[]): Blob {
  const parts: BlobPart[] = [];
  const directory: BlobPart[] = [];
  let [offset, directorySize] = [0, 0];
  for (const file of files) {
    const name = new TextEncoder().encode(file.name);
    const shared = sharedHeader(file, name.length);
    const local = record(4 + shared.length, 0x04034b50, shared);
    parts.push(local, name, file.blob);
    // "Version made by", the shared header, and comment, disk, attributes and offset.
    const central = record(46, 0x02014b50, [20, 0, ...shared], offset);
    directory.push(central, name);
    directorySize += central.length + name.length;
    offset += local.length + name.length + file.blob.size;
  }
  const end = new DataView(new ArrayBuffer(22));
  end.setUint32(0, 0x06054b50, true);
  end.setUint16(8, files.length, true);
  end.setUint16(10, files.length, true);
  end.setUint32(12, directorySize, true);
  end.setUint32(16, offset, true);
  return new Blob([...parts, ...directory, end.buffer], { type: "application/zip" });
}

/** The fields that the local header and the directory share: from "version needed" to "extra field length". */
function sharedHeader({ blob, crc, modified }: ZipFile, nameLength: number): number[] {
  const fields = new DataView(new ArrayBuffer(26));
  fields.setUint16(0, 20, true);
  // Names in UTF-8.
  fields.setUint16(2, 0x0800, true);
  fields.setUint16(
    6,
    (modified.getHours() << 11) | (modified.getMinutes() << 5) | (modified.getSeconds() >> 1),
    true,
  );
  // The format begins in 1980.
  const year = Math.max(0, modified.getFullYear() - 1980);
  fields.setUint16(8, (year << 9) | ((modified.getMonth() + 1) << 5) | modified.getDate(), true);
  fields.setUint32(10, crc, true);
  fields.setUint32(14, blob.size, true);
  fields.setUint32(18, blob.size, true);
  fields.setUint16(22, nameLength, true);
  return [...new Uint8Array(fields.buffer)];
}

function record(
  length: number,
  signature: number,
  fields: readonly number[],
  offset?: number,
): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, signature, true);
  bytes.set(fields, 4);
  if (offset !== undefined) view.setUint32(42, offset, true);
  return bytes;
}

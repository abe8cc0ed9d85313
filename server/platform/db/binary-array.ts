/** Arrays in PostgreSQL's binary form: node-postgres sends a Buffer unchanged, so nothing is quoted or parsed again. */

/** Ids of types in the catalogue `pg_type`. */
const oids = { text: 25, bigint: 20, integer: 23, timestamptz: 1184 } as const;

/** Of 2000-01-01, from where PostgreSQL counts, in ms since 1970. */
const epochMs = 946_684_800_000;

const headerBytes = 20;

/** For a parameter of type `text[]`, texts as such or as UTF-8. They must not hold NUL, which PostgreSQL stores nowhere. */
export function textArray(values: readonly (string | Buffer | null)[]): Buffer {
  let bytes = headerBytes;
  for (const value of values) bytes += 4 + (value === null ? 0 : Buffer.byteLength(value));
  const buffer = begin(oids.text, values.length, bytes);
  let at = headerBytes;
  for (const value of values) {
    if (value === null) at = buffer.writeInt32BE(-1, at);
    else {
      const length = typeof value === "string" ? buffer.write(value, at + 4) : value.copy(buffer, at + 4);
      buffer.writeInt32BE(length, at);
      at += 4 + length;
    }
  }
  return buffer;
}

/** For a parameter of type `bigint[]`. */
export function bigintArray(values: readonly string[]): Buffer {
  return numberArray(oids.bigint, 8, values, (buffer, value, at) =>
    buffer.writeBigInt64BE(BigInt(value), at),
  );
}

/** For a parameter of type `integer[]`. */
export function integerArray(values: readonly (number | null)[]): Buffer {
  return numberArray(oids.integer, 4, values, (buffer, value, at) => buffer.writeInt32BE(value, at));
}

/** For a parameter of type `timestamptz[]`, to the millisecond. */
export function timestampArray(values: readonly (Date | null)[]): Buffer {
  return numberArray(oids.timestamptz, 8, values, (buffer, value, at) =>
    buffer.writeBigInt64BE(BigInt(value.getTime() - epochMs) * 1000n, at),
  );
}

function numberArray<T>(
  oid: number,
  size: number,
  values: readonly (T | null)[],
  write: (buffer: Buffer, value: T, at: number) => void,
): Buffer {
  const nulls = values.reduce((count, value) => count + (value === null ? 1 : 0), 0);
  const buffer = begin(oid, values.length, headerBytes + values.length * 4 + (values.length - nulls) * size);
  let at = headerBytes;
  for (const value of values) {
    at = buffer.writeInt32BE(value === null ? -1 : size, at);
    if (value === null) continue;
    write(buffer, value, at);
    at += size;
  }
  return buffer;
}

/** array_send of PostgreSQL: dimensions, whether there are nulls, type, and for the one dimension its length and first index. */
function begin(oid: number, length: number, bytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const word of [1, 1, oid, length, 1]) at = buffer.writeInt32BE(word, at);
  return buffer;
}

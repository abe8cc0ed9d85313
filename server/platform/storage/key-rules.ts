/** Maximum bytes of a key, and of one segment of it: what file systems and S3 accept, with room for a prefix. */
const maxKeyBytes = 512;
const maxSegmentBytes = 200;

/**
 * Rules for a prefix of every key in a bucket; trailing slashes do not matter. S3 accepts 1024 bytes for a name, and
 * URLs would drop `.` and `..`.
 */
export const bucketPrefixRule =
  /^(?!.{201})(?!\.{1,2}(?:\/|$))[\w.=-]+(?:\/(?!\.{1,2}(?:\/|$))[\w.=-]+)*\/*$/;

/**
 * Checks a key against the rules of the store (see store.ts), so that no key leaves the store's folder, collides with
 * its hidden folders (they begin with a dot), or means something else on another kind of store.
 * @throws TypeError
 */
export function checkKey(key: string): void {
  if (!isKey(key))
    throw new TypeError(`not a key of the object store: ${JSON.stringify(key.slice(0, maxKeyBytes))}`);
}

/** Whether a name, for instance of a file that an operator put into the store's folder, is a key. */
export function isKey(name: string): boolean {
  return (
    name.length <= maxKeyBytes &&
    /^[A-Za-z0-9_=-][A-Za-z0-9._=-]*(\/[A-Za-z0-9_=-][A-Za-z0-9._=-]*)*$/.test(name) &&
    name.split("/").every((segment) => segment.length <= maxSegmentBytes)
  );
}

/**
 * Checks a prefix for `list`: the beginning of a key, or empty for all.
 * @throws TypeError
 */
export function checkPrefix(prefix: string): void {
  // Any beginning of a key is itself a key, or becomes one when a letter follows.
  if (prefix === "" || prefix.endsWith("/")) checkKey(`${prefix}a`);
  else checkKey(prefix);
}

/**
 * Checks a range against an object's size and cuts it there (RFC 9110, section 14.1.2).
 * @throws RangeError when it begins past the end or is invalid.
 */
export function cutRange(
  range: { readonly start: number; readonly end: number },
  size: number,
): { start: number; end: number } {
  const { start, end } = range;
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || end < start || start >= size)
    throw new RangeError(`bytes ${start} to ${end} are not in an object of ${size} bytes`);
  return { start, end: Math.min(end, size - 1) };
}

import type { Readable } from "node:stream";
import { checkKey } from "./key-rules.ts";
import {
  ObjectExistsError,
  type ObjectInfo,
  ObjectMissingError,
  type ObjectStore,
  type PutOptions,
} from "./store.ts";

/**
 * Two stores as one, while files are migrated: objects are written to the first, read from either and removed from both.
 * An append stays in the store where it began. The second store signs no URLs for downloads, so that they can all have
 * expired when it is removed.
 */
export function combineStores(first: ObjectStore, second: ObjectStore): ObjectStore {
  const both = [first, second] as const;

  /** The object may move from the second store to the first between two calls: then the first is asked again. */
  async function fromEither<T>(read: (store: ObjectStore) => Promise<T>): Promise<T> {
    for (const store of both) {
      try {
        return await read(store);
      } catch (error) {
        if (!(error instanceof ObjectMissingError)) throw error;
      }
    }
    return read(first);
  }

  const head: ObjectStore["head"] = async (key) =>
    (await first.head(key)) ?? (await second.head(key)) ?? first.head(key);

  const refuseTaken = async (store: ObjectStore, key: string): Promise<void> => {
    if ((await store.head(key)) !== null) throw new ObjectExistsError(`${key} is taken`);
  };

  /** An empty object takes the place of a file that is removed (uploads/lifecycle/upload-file.ts): where the file is. */
  async function replacedIn(key: string, body: Readable | Buffer, options: PutOptions): Promise<ObjectStore> {
    const isRemoval = Buffer.isBuffer(body) && body.length === 0 && options.ifAbsent !== true;
    if (!isRemoval || (await first.head(key)) !== null || (await second.head(key)) === null) return first;
    return second;
  }

  /** The store that has the bytes appended for a key, and the other one. */
  async function appendPlaces(key: string): Promise<readonly [ObjectStore, ObjectStore]> {
    const isSecond = (await first.appended(key)) === null && (await second.appended(key)) !== null;
    return isSecond ? [second, first] : both;
  }

  return {
    kind: both.some(({ kind }) => kind === "s3") ? "s3" : "local",
    async probe() {
      for (const store of both) await store.probe();
    },
    async check() {
      await Promise.all(both.map((store) => store.check()));
    },
    async put(key, body, options = {}) {
      if (options.ifAbsent === true) await refuseTaken(second, key);
      return (await replacedIn(key, body, options)).put(key, body, options);
    },
    putFile: (key, path, options) => first.putFile(key, path, options),
    get: (key, range, signal) => fromEither((store) => store.get(key, range, signal)),
    head,
    async delete(key) {
      // In this order: an object that is only in the second store would seem to come back.
      await second.delete(key);
      await first.delete(key);
    },
    async copy(from, to, contentType) {
      checkKey(to);
      const { info, body } = await fromEither((store) => store.get(from));
      return first.put(to, body, {
        contentLength: info.size,
        ...(contentType === undefined ? {} : { contentType }),
      });
    },
    list: (prefix) => mergeByKey(first.list(prefix), second.list(prefix)),
    // Only `get` finds the object wherever it is.
    localPath(key) {
      checkKey(key);
      return null;
    },
    async downloadLink(key, options) {
      return (await first.head(key)) === null ? null : first.downloadLink(key, options);
    },
    uploadLink: (key, options) => first.uploadLink(key, options),
    async append(key, offset, body, options) {
      const [store] = await appendPlaces(key);
      return store.append(key, offset, body, options);
    },
    appended: async (key) => (await first.appended(key)) ?? second.appended(key),
    async finishAppend(key) {
      const [store, other] = await appendPlaces(key);
      if ((await store.appended(key)) === null) return fromEither((each) => each.finishAppend(key));
      await refuseTaken(other, key);
      return store.finishAppend(key);
    },
    async dropAppend(key) {
      for (const store of both) await store.dropAppend(key);
    },
    async *listAppends(prefix) {
      for (const store of both) yield* store.listAppends(prefix);
    },
    async sweepLeftovers(olderThan) {
      return (await first.sweepLeftovers(olderThan)) + (await second.sweepLeftovers(olderThan));
    },
    ownKey: (name) => (both.find(({ kind }) => kind === "s3") ?? first).ownKey(name),
    async close() {
      for (const store of both) await store.close();
    },
  };
}

/** Merges two lists that are ordered by key; of two objects with the same key, the first list's counts. */
async function* mergeByKey(
  first: AsyncIterable<ObjectInfo>,
  second: AsyncIterable<ObjectInfo>,
): AsyncGenerator<ObjectInfo> {
  const [a, b] = [first[Symbol.asyncIterator](), second[Symbol.asyncIterator]()];
  let [left, right] = await Promise.all([a.next(), b.next()]);
  while (!left.done || !right.done) {
    if (right.done || (!left.done && left.value.key <= right.value.key)) {
      const { key } = (left as IteratorYieldResult<ObjectInfo>).value;
      yield (left as IteratorYieldResult<ObjectInfo>).value;
      if (!right.done && right.value.key === key) right = await b.next();
      left = await a.next();
    } else {
      yield right.value;
      right = await b.next();
    }
  }
}

import { createHash, hash as hashOf } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { PassThrough, Readable, Transform } from "node:stream";
import { constants, createZstdCompress, createZstdDecompress } from "node:zlib";
import type { Decrypter, Encrypter } from "age-encryption";
import type { Config } from "../../platform/config/config.ts";
import { smallBytes } from "../../platform/storage/local/groups.ts";
import { openLocalStore } from "../../platform/storage/local/local.ts";
import { readSmall } from "../../platform/storage/read-small.ts";
import {
  BodyBrokenError,
  ObjectExistsError,
  ObjectMissingError,
  type ObjectStore,
} from "../../platform/storage/store.ts";
import { BackupDamagedError, BackupError } from "./errors.ts";

/** Size and SHA-256 (hex) of bytes. */
interface Digest {
  readonly bytes: number;
  readonly sha256: string;
}

/** A file of a backup, with the digest of its content before compression and encryption. */
export interface Part extends Digest {
  readonly name: string;
  /**
   * The file itself, if it is compressed: bytes of zstd's frame may change without changing the content. Older backups
   * don't have it.
   */
  readonly stored?: Digest | undefined;
}

/**
 * Where backups are: a folder or a bucket. Table data is compressed with zstd. With a passphrase, every file is encrypted
 * in the age format: to a key that is stored beside the backups, encrypted with the passphrase.
 */
export interface BackupFolder {
  /** As the user named it. */
  readonly destination: string;
  readonly store: ObjectStore;
  /** Whether what is written is encrypted. */
  readonly isEncrypted: boolean;
  /**
   * Writes a file. It exists only once everything has arrived.
   * @param expected refuse content that is not this, with a ContentDiffersError.
   */
  write(
    name: string,
    content: Readable | Buffer,
    options?: { compress?: boolean; expected?: Digest },
  ): Promise<Part>;
  /**
   * Opens a file. The stream ends with a BackupDamagedError that names it if it is not what was written.
   * @throws BackupDamagedError if it is missing, BackupError if it needs a passphrase.
   */
  read(part: Part): Promise<Readable>;
  /** Reads a small file at once, one that is not compressed. @throws as `read`. */
  readSmall(part: Part): Promise<Buffer>;
  /** Reads a whole file. @throws BackupDamagedError that names it if a byte of it has changed. */
  check(part: Part): Promise<void>;
  /** The same, but reads a compressed file without decompressing it. */
  checkStored(part: Part): Promise<void>;
  /** The size of the file of an uncompressed content of this size. */
  storedSize(bytes: number): number;
  /** Reads a file whose digest is not known. */
  readUnchecked(name: string): Promise<Readable>;
  close(): Promise<void>;
}

/** The content of a file is not what it should be. */
export class ContentDiffersError extends Error {}

/** Suffix of encrypted and compressed files. */
const [encryptedSuffix, compressedSuffix] = [".age", ".zst"];

/** The key that files are encrypted to, encrypted with the passphrase. */
const identityKey = "identity.age";

/** Base-2 logarithm of scrypt's cost: 128 MB of memory. A backup's memory must stay small. */
const scryptWorkFactor = 17;

/** zstd's own default. */
const zstdLevel = 3;

/** Of decompressed content. The default of 16 KB takes a third more time, because each chunk passes several streams. */
const chunkSize = 2 ** 17;

/** Names in a bucket have at most 1,024 bytes, those that Parley gives at most 700. */
const maxPrefixBytes = 300;

/** A folder or `s3://bucket/prefix`. @throws BackupError for anything else. */
function parseDestination(
  destination: string,
): { readonly folder: string } | { readonly bucket: string; readonly prefix: string } {
  const match = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/s.exec(destination);
  if (match !== null) {
    const names = (match[2] ?? "").split("/").filter((name) => name !== "");
    const prefix = names.map((name) => `${name}/`).join("");
    // URLs drop `.` and `..`.
    if (names.some((name) => name === "." || name === "..") || /\p{Cc}/u.test(prefix))
      throw new BackupError(
        `the prefix of ${JSON.stringify(destination)} must not have the names . and .., nor control characters`,
      );
    if (Buffer.byteLength(prefix) > maxPrefixBytes)
      throw new BackupError(`the prefix of ${destination} must have at most ${maxPrefixBytes} bytes`);
    return { bucket: match[1] ?? "", prefix };
  }
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(destination))
    throw new BackupError(`${destination} is neither a folder nor s3://bucket/prefix`);
  return { folder: resolve(destination) };
}

/** Whether two names of destinations lead to the same place. */
export function isSameDestination(one: string, other: string): boolean {
  const [a, b] = [one, other].map((name) => {
    const parsed = parseDestination(name);
    if (!("folder" in parsed)) return JSON.stringify(parsed);
    return existsSync(parsed.folder) ? realpathSync(parsed.folder) : parsed.folder;
  });
  return a === b;
}

/**
 * Opens the place of backups.
 * @param purpose `write` creates a folder and a key that are missing.
 * @throws BackupError for a folder that is missing, or a passphrase that is not the one of the backups there.
 */
export async function openBackupFolder(
  destination: string,
  config: Config,
  purpose: "read" | "write",
): Promise<BackupFolder> {
  const store = await openDestination(destination, config, purpose);
  try {
    const { passphrase } = config.backup;
    const identity = passphrase === null ? null : await openIdentity(store, passphrase, destination, purpose);
    return createFolder(destination, store, identity === null ? null : await keysOf(identity));
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * Checks that backups can be written to a destination, and read with the passphrase.
 * @param purpose `write` creates a folder that is missing, as the first backup does.
 * @throws Error that says in one line why not.
 */
export async function checkDestination(
  destination: string,
  config: Config,
  purpose: "read" | "write" = "read",
): Promise<void> {
  const store = await openDestination(destination, config, purpose);
  try {
    await store.probe();
    const { passphrase } = config.backup;
    if (passphrase !== null) await openIdentity(store, passphrase, destination, "read");
  } finally {
    await store.close();
  }
}

/** Opens a folder on this machine whose backups are not encrypted. */
export async function openPlainFolder(path: string): Promise<BackupFolder> {
  return createFolder(path, await openLocalStore(path, ".", { mayBlock: true }), null);
}

/**
 * Creates a folder and its missing parents. Not with mkdir's `recursive`, which retries endlessly where an existing folder
 * accepts no new ones, such as below /proc.
 */
async function makeFolder(path: string): Promise<void> {
  const missing: string[] = [];
  for (let folder = path; !existsSync(folder); folder = dirname(folder)) missing.unshift(folder);
  for (const folder of missing)
    await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
}

async function openDestination(
  destination: string,
  config: Config,
  purpose: "read" | "write",
): Promise<ObjectStore> {
  const place = parseDestination(destination);
  if ("folder" in place) {
    const [data, folder] = [`${join(config.dataDir)}/`, `${place.folder}/`];
    if (data.startsWith(folder) || folder.startsWith(join(data, "objects/")))
      throw new BackupError(`${destination} contains the data folder; choose another folder for backups`);
    if (purpose === "read" && !existsSync(place.folder))
      throw new BackupError(`the folder ${place.folder} does not exist; is its disk mounted?`);
    try {
      await makeFolder(place.folder);
      return await openLocalStore(place.folder, ".", { mayBlock: true });
    } catch (error) {
      throw new BackupError(`the folder ${place.folder} can't be used: ${(error as Error).message}`);
    }
  }
  const { openS3Store } = await import("../../platform/storage/s3/s3.ts");
  const { s3Endpoint, s3Key } = config.backup;
  const endpoint = s3Endpoint ?? config.s3Connection.endpoint;
  const region = (s3Endpoint === null ? null : regionIn(s3Endpoint)) ?? config.s3Connection.region;
  return openS3Store({
    bucket: place.bucket,
    prefix: place.prefix,
    region,
    forcePathStyle: s3Endpoint === null ? config.s3Connection.forcePathStyle : true,
    ...(s3Key === null ? {} : { credentials: { accessKeyId: s3Key.id, secretAccessKey: s3Key.secret } }),
    credentialsFrom: "PARLEY_BACKUP_S3_KEY",
    scratchDir: join(config.dataDir, "scratch"),
    mayLackConditions: true,
    ...(endpoint === null ? {} : { endpoint }),
  });
}

/** The region that an endpoint such as `https://s3.eu-west-1.amazonaws.com` names; null: none. */
function regionIn(endpoint: string): string | null {
  return /^s3\.([a-z]{2,}(?:-[a-z0-9]+)+)\./.exec(new URL(endpoint).hostname)?.[1] ?? null;
}

/** The key of this place; created at the first encrypted backup. */
async function openIdentity(
  store: ObjectStore,
  passphrase: string,
  destination: string,
  purpose: "read" | "write",
): Promise<string | null> {
  const stored = await readIdentity(store);
  if (stored !== null) return decryptIdentity(stored, passphrase, destination);
  // Another key would hide that all earlier backups can't be read any more.
  for await (const { key } of store.list("backups/"))
    if (key.endsWith(encryptedSuffix))
      throw new BackupError(
        `${identityKey} is missing at ${destination}; the encrypted backups there can't be read without it. Bring it back, or choose another folder`,
      );
  if (purpose === "read") return null;
  const age = await import("age-encryption");
  const identity = await age.generateX25519Identity();
  const encrypter = new age.Encrypter();
  encrypter.setPassphrase(passphrase);
  encrypter.setScryptWorkFactor(scryptWorkFactor);
  try {
    await store.put(identityKey, Buffer.from(await encrypter.encrypt(identity)), { ifAbsent: true });
    return identity;
  } catch (error) {
    if (error instanceof ObjectExistsError) return openIdentity(store, passphrase, destination, purpose);
    throw error;
  }
}

async function readIdentity(store: ObjectStore): Promise<Uint8Array | null> {
  try {
    const chunks = await (await store.get(identityKey)).body.toArray();
    return Buffer.concat(chunks);
  } catch (error) {
    if (error instanceof ObjectMissingError) return null;
    throw error;
  }
}

async function decryptIdentity(
  encrypted: Uint8Array,
  passphrase: string,
  destination: string,
): Promise<string> {
  const { Decrypter } = await import("age-encryption");
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  try {
    return await decrypter.decrypt(encrypted, "text");
  } catch (error) {
    throw new BackupError(
      `PARLEY_BACKUP_PASSPHRASE can't decrypt the backups at ${destination}, or their ${identityKey} is damaged: ${(error as Error).message}`,
    );
  }
}

interface Keys {
  readonly encrypter: Encrypter;
  readonly decrypter: Decrypter;
}

async function keysOf(identity: string): Promise<Keys> {
  const age = await import("age-encryption");
  const [encrypter, decrypter] = [new age.Encrypter(), new age.Decrypter()];
  encrypter.addRecipient(await age.identityToRecipient(identity));
  decrypter.addIdentity(identity);
  return { encrypter, decrypter };
}

function createFolder(destination: string, store: ObjectStore, keys: Keys | null): BackupFolder {
  const open = async (name: string): Promise<Readable> => {
    try {
      return (await store.get(name)).body;
    } catch (error) {
      if (error instanceof ObjectMissingError) throw new BackupDamagedError(`${name} is missing`);
      throw error;
    }
  };

  const needsPassphrase = (): BackupError =>
    new BackupError(`the backups at ${destination} are encrypted; set PARLEY_BACKUP_PASSPHRASE`);

  const readUnchecked = async (name: string): Promise<Readable> => {
    const body = await open(name);
    let content = body;
    if (name.endsWith(encryptedSuffix)) {
      if (keys === null) {
        body.destroy();
        throw needsPassphrase();
      }
      content = await decrypt(keys.decrypter, body, name);
    }
    const plain = name.endsWith(encryptedSuffix) ? name.slice(0, -encryptedSuffix.length) : name;
    return chain(
      plain.endsWith(compressedSuffix) ? [content, createZstdDecompress({ chunkSize })] : [content],
      (error) => new BackupDamagedError(`${name} is damaged: ${error.message}`),
    );
  };

  const read = async (part: Part): Promise<Readable> =>
    chain([await readUnchecked(part.name), digestFor(part, part)]);

  const checkStored = async (part: Part): Promise<void> =>
    drain(
      part.stored === undefined
        ? await read(part)
        : chain([await open(part.name), digestFor(part, part.stored)]),
    );

  const storedSize = (bytes: number): number => (keys === null ? bytes : encryptedSize(bytes));

  const writeSmall = async (name: string, content: Buffer, expected: Digest | undefined): Promise<Part> => {
    const found = digestIn(content);
    if (expected !== undefined && found.sha256 !== expected.sha256)
      throw new ContentDiffersError(`the content of ${name} has changed since it was stored`);
    const full = `${name}${keys === null ? "" : encryptedSuffix}`;
    await store.put(full, keys === null ? content : Buffer.from(await keys.encrypter.encrypt(content)));
    return { name: full, ...found };
  };

  const readSmallPart = async (part: Part): Promise<Buffer> => {
    const damaged = (reason: string): BackupDamagedError =>
      new BackupDamagedError(`${part.name} is damaged: ${reason}`);
    let stored: Buffer | null;
    try {
      stored = await readSmall(store, part.name, storedSize(part.bytes));
    } catch (error) {
      if (error instanceof ObjectMissingError) throw new BackupDamagedError(`${part.name} is missing`);
      throw damaged((error as Error).message);
    }
    let content = stored;
    if (stored !== null && part.name.endsWith(encryptedSuffix)) {
      if (keys === null) throw needsPassphrase();
      const plain = await keys.decrypter.decrypt(stored).catch((error: Error) => {
        throw damaged(error.message);
      });
      content = Buffer.from(plain);
    }
    if (content === null || digestIn(content).sha256 !== part.sha256)
      throw damaged("its content has changed since it was written");
    return content;
  };

  return {
    destination,
    store,
    isEncrypted: keys !== null,
    async write(name, content, { compress = false, expected } = {}) {
      if (Buffer.isBuffer(content)) {
        if (!compress) return writeSmall(name, content, expected);
        return this.write(name, Readable.from([content]), { compress, ...(expected && { expected }) });
      }
      const full = `${name}${compress ? compressedSuffix : ""}${keys === null ? "" : encryptedSuffix}`;
      const digest = digestOf(({ sha256 }) =>
        expected !== undefined && sha256 !== expected.sha256
          ? new ContentDiffersError(`the content of ${name} has changed since it was stored`)
          : null,
      );
      const stored = digestOf(() => null);
      const plain = chain(
        compress
          ? [content, digest.stream, createZstdCompress({ params: zstdParams })]
          : [content, digest.stream],
      );
      const encrypted = keys === null ? plain : await encrypt(keys.encrypter, plain);
      const body = compress ? chain([encrypted, stored.stream]) : encrypted;
      // A bucket has to know the length; without it, the store writes the body to a file first.
      const isLengthKnown = expected !== undefined && !compress && keys === null;
      await store
        .put(full, body, isLengthKnown ? { contentLength: expected.bytes } : {})
        .catch((error: unknown) => {
          const cause = digest.failure() ?? content.errored ?? plain.errored ?? error;
          throw isLengthKnown && cause instanceof BodyBrokenError
            ? new ContentDiffersError(`the size of ${name} has changed since it was stored`)
            : cause;
        });
      return { name: full, ...digest.result(), ...(compress ? { stored: stored.result() } : {}) };
    },
    read,
    readSmall: readSmallPart,
    async check(part) {
      // First, since a decompressor may end before the file does.
      if (part.stored !== undefined) await checkStored(part);
      else if (isSmall(part) && !part.name.includes(compressedSuffix))
        return void (await readSmallPart(part));
      await drain(await read(part));
    },
    checkStored,
    storedSize,
    readUnchecked,
    close: () => store.close(),
  };
}

/** Whether a file of the object store is read and written at once. */
export function isSmall({ bytes }: Pick<Part, "bytes">): boolean {
  return bytes <= smallBytes;
}

function digestIn(content: Buffer): Digest {
  return { bytes: content.length, sha256: hashOf("sha256", content, "hex") };
}

const zstdParams = {
  [constants.ZSTD_c_compressionLevel]: zstdLevel,
  [constants.ZSTD_c_checksumFlag]: 1,
};

type Duplex = Readable & NodeJS.WritableStream;

/**
 * Joins streams. An error of one ends the last with it, and when nobody reads the last any more, all are closed.
 * @param describe turns an error into the one to report.
 */
function chain(
  streams: readonly [Readable, ...Duplex[]],
  describe: (error: Error) => Error = (error) => error,
): Readable {
  const end = new PassThrough();
  const fail = (error: Error): void => {
    end.destroy(error instanceof BackupDamagedError ? error : describe(error));
  };
  let last: Readable = streams[0];
  for (const stream of streams) {
    stream.once("error", fail);
    stream.once("close", () => {
      if (!stream.readableEnded && !stream.errored) fail(new Error("it ended early"));
    });
    if (stream !== last) last = last.pipe(stream as Duplex);
  }
  last.pipe(end);
  end.once("close", () => {
    for (const stream of streams) stream.destroy();
  });
  return end;
}

/** Passes a content on and computes its digest. @param check may end the stream with an error. */
function digestOf(check: (found: Digest) => Error | null) {
  const hash = createHash("sha256");
  let bytes = 0;
  let found = { bytes: 0, sha256: "" };
  let failure: Error | null = null;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
    flush(done) {
      found = { bytes, sha256: hash.digest("hex") };
      failure = check(found);
      done(failure);
    },
  });
  return { stream, result: () => found, failure: () => failure };
}

/** Ends with a BackupDamagedError that names the part if what passes is not the expected. */
function digestFor({ name }: Part, expected: Digest): Transform {
  return digestOf(({ bytes, sha256 }) =>
    bytes === expected.bytes && sha256 === expected.sha256
      ? null
      : new BackupDamagedError(`${name} is damaged: its content has changed since it was written`),
  ).stream;
}

async function drain(stream: Readable): Promise<void> {
  for await (const _ of stream);
}

/** age's header for one X25519 key with the nonce that follows it, its chunks, and the tag after each. */
const [ageHeaderBytes, ageChunkBytes, ageTagBytes] = [184, 65_536, 16];

/** The size of an encrypted file. Source: https://age-encryption.org/v1. */
function encryptedSize(bytes: number): number {
  return ageHeaderBytes + bytes + Math.max(1, Math.ceil(bytes / ageChunkBytes)) * ageTagBytes;
}

async function encrypt(encrypter: Encrypter, content: Readable): Promise<Readable> {
  const plain = Readable.toWeb(content) as ReadableStream<Uint8Array>;
  return Readable.fromWeb((await encrypter.encrypt(plain)) as Parameters<typeof Readable.fromWeb>[0]);
}

async function decrypt(decrypter: Decrypter, content: Readable, name: string): Promise<Readable> {
  try {
    const plain = await decrypter.decrypt(Readable.toWeb(content) as ReadableStream<Uint8Array>);
    return Readable.fromWeb(plain as Parameters<typeof Readable.fromWeb>[0]);
  } catch (error) {
    content.destroy();
    throw new BackupDamagedError(`${name} is damaged: ${(error as Error).message}`);
  }
}

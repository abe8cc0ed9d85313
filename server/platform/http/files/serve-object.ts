import type { FileHandle } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { contentDisposition } from "../../storage/content-disposition.ts";
import { ProblemError } from "../errors/problem.ts";
import { sendFile } from "./send-file.ts";

/** An object to serve: its metadata and how to read a part of it. */
export interface ServedObject {
  /** In bytes. A function is called only if the client lacks this version. */
  readonly size: number | (() => Promise<number>);
  /** Strong validator without quotes. */
  readonly etag: string;
  readonly modifiedAt: Date;
  readonly contentType: string;
  /** Name for saving the file; without it the browser shows the file. */
  readonly fileName?: string;
  /** Cache lifetime in seconds; null: no caching. */
  readonly maxAgeSec: number | null;
  /** Returns local files as handles, because sending those costs far less than a stream. */
  open(range: { start: number; end: number } | undefined): Promise<Readable | FileHandle>;
}

/**
 * Handles GET and HEAD for an object, with conditional requests and single byte ranges. Source: RFC 9110, sections
 * 13 and 14. Several ranges in one request get the whole object, as section 14.2 allows.
 */
export async function serveObject(
  request: FastifyRequest,
  reply: FastifyReply,
  object: ServedObject,
): Promise<FastifyReply> {
  const etag = `"${object.etag}"`;
  reply.headers({
    etag,
    "last-modified": object.modifiedAt.toUTCString(),
    "accept-ranges": "bytes",
    "cache-control": object.maxAgeSec === null ? "no-store" : `private, max-age=${object.maxAgeSec}`,
    "content-disposition": contentDisposition(object.fileName),
  });
  if (isAnother(request, etag, object.modifiedAt))
    throw new ProblemError(
      "precondition_failed",
      `the file has changed and its ETag is now ${etag}; download it again from the start`,
    );
  if (isUnchanged(request, etag, object.modifiedAt)) return reply.code(304).send();

  const size = typeof object.size === "number" ? object.size : await object.size();
  const range = isRangeWanted(request, etag, object.modifiedAt)
    ? parseRange(request.headers.range, size)
    : undefined;
  if (range === null) {
    reply.header("content-range", `bytes */${size}`);
    throw new ProblemError("range_not_satisfiable", `the file has ${size} bytes`);
  }
  reply.type(object.contentType);
  const length = range === undefined ? size : range.end - range.start + 1;
  reply.header("content-length", length);
  if (range !== undefined) {
    reply.code(206).header("content-range", `bytes ${range.start}-${range.end}/${size}`);
  }
  if (request.method === "HEAD") {
    // The framework would set the length of what it sends: nothing.
    writeHead(reply).end();
    return reply;
  }
  const body = await object.open(range);
  if (!(body instanceof Readable)) {
    await sendFile(body, { start: range?.start ?? 0, length }, writeHead(reply));
    return reply;
  }
  // Also when the client leaves right after the last byte, when the framework has stopped looking.
  reply.raw.once("close", () => body.destroy());
  return reply.send(body);
}

/** Takes the response out of the framework's hands. */
function writeHead(reply: FastifyReply): ServerResponse {
  reply.hijack();
  return reply.raw.writeHead(reply.statusCode, reply.getHeaders() as Record<string, string>);
}

/** RFC 9110, 13.2.2: If-Match, by a strong comparison, counts before If-Unmodified-Since. */
function isAnother(request: FastifyRequest, etag: string, modifiedAt: Date): boolean {
  const tags = request.headers["if-match"];
  if (tags !== undefined) return tags.trim() !== "*" && !tags.split(",").some((tag) => tag.trim() === etag);
  const since = Date.parse(request.headers["if-unmodified-since"] ?? "");
  return !Number.isNaN(since) && wholeSeconds(modifiedAt) > since;
}

/** RFC 9110, 13.2.2: If-None-Match counts before If-Modified-Since. */
function isUnchanged(request: FastifyRequest, etag: string, modifiedAt: Date): boolean {
  if (request.headers["if-none-match"] !== undefined) return hasVersion(request, etag);
  const since = Date.parse(request.headers["if-modified-since"] ?? "");
  return !Number.isNaN(since) && wholeSeconds(modifiedAt) <= since;
}

/** Whether the client has this version already. Source: RFC 9110, section 13.1.2. @param etag with quotes. */
export function hasVersion(request: FastifyRequest, etag: string): boolean {
  const tags = request.headers["if-none-match"];
  if (tags === undefined) return false;
  return tags.trim() === "*" || tags.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}

/** RFC 9110, 13.1.5: a range counts only if the client's copy is of this very content; by a strong comparison. */
function isRangeWanted(request: FastifyRequest, etag: string, modifiedAt: Date): boolean {
  if (request.headers.range === undefined) return false;
  const condition = request.headers["if-range"];
  if (typeof condition !== "string") return true;
  if (/^(W\/)?"/.test(condition)) return condition === etag;
  return Date.parse(condition) === wholeSeconds(modifiedAt);
}

function wholeSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000) * 1000;
}

/**
 * Reads a Range header.
 * @returns the range, undefined where the header is to be ignored, null where it lies outside the file.
 */
function parseRange(
  header: string | undefined,
  size: number,
): { start: number; end: number } | undefined | null {
  const match = /^bytes=\s*(?:(\d+)\s*)?-\s*(?:(\d+)\s*)?$/i.exec(header ?? "");
  const [, first = "", last = ""] = match ?? [];
  if (match === null || (first === "" && last === "")) return undefined;
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? null : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  if (last !== "" && Number(last) < start) return undefined;
  if (start >= size) return null;
  return { start, end: last === "" ? size - 1 : Math.min(Number(last), size - 1) };
}

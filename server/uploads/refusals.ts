import type { FastifyReply, FastifyRequest } from "fastify";
import { discardBody } from "../http/errors.ts";
import { ProblemError } from "../http/problem.ts";
import type { UploadRow } from "./queries.ts";

/** Refuses a file for an upload that has one, or takes none any more. */
export function refuseArrived(upload: UploadRow): void {
  if (upload.received_at !== null) throw alreadyUploaded(upload.id);
  if (upload.status !== "awaiting")
    throw new ProblemError("wrong_state", `upload ${upload.id} is ${upload.status} and takes no file`);
}

export function alreadyUploaded(uploadId: string): ProblemError {
  return new ProblemError(
    "already_uploaded",
    `the file of upload ${uploadId} has arrived already; a second one is not taken`,
  );
}

export function tooLarge(upload: UploadRow): ProblemError {
  return new ProblemError(
    "body_too_large",
    `the file may have at most ${upload.max_upload_bytes} bytes; nothing of it was kept`,
  );
}

/** A body that its sender holds back until it is told to go on (`Expect: 100-continue`, RFC 9110, 10.1.1). */
export interface Expectation {
  /** Tells the sender to go on, if it waits for that. */
  meet(): void;
  /** Whether it still waits: then it sends nothing, and there is nothing to read before it is refused. */
  readonly isOpen: boolean;
}

export function expectationOf(request: FastifyRequest, reply: FastifyReply): Expectation {
  let isOpen = /100-continue/i.test(request.headers.expect ?? "");
  return {
    meet() {
      if (isOpen) reply.raw.writeContinue();
      isOpen = false;
    },
    get isOpen() {
      return isOpen;
    },
  };
}

/**
 * Sees to it that a sender gets to read why it is refused: the rest of its body is thrown away, or not waited for
 * where it has not begun. The connection ends with the answer.
 */
export async function makeHeard(
  request: FastifyRequest,
  reply: FastifyReply,
  expectation: Expectation,
): Promise<void> {
  if (request.raw.complete) return;
  reply.header("connection", "close");
  if (!expectation.isOpen) await discardBody(request.raw);
}

import type { FastifyReply, FastifyRequest } from "fastify";
import { because } from "../../../../contract/causes/causes.ts";
import { discardBody } from "../../../platform/http/errors/errors.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import type { UploadRow } from "../queries.ts";

/** Refuses a file for an upload that already has one or no longer accepts one. */
export function refuseArrived(upload: UploadRow): void {
  if (upload.received_at !== null) throw alreadyUploaded(upload.id);
  if (upload.status !== "awaiting")
    throw new ProblemError(
      "wrong_state",
      because("upload_accepts_no_file", { upload: upload.id, status: upload.status }),
    );
}

export function alreadyUploaded(uploadId: string): ProblemError {
  return new ProblemError(
    "already_uploaded",
    `the file of upload ${uploadId} has already arrived; a second one is not accepted`,
  );
}

export function tooLarge(upload: UploadRow): ProblemError {
  return new ProblemError(
    "body_too_large",
    because("file_too_large", { limit: Number(upload.max_upload_bytes) }),
  );
}

/** A body that its sender holds back until the server asks for it (`Expect: 100-continue`, RFC 9110, 10.1.1). */
export interface Expectation {
  /** Asks the sender to continue, if it waits for that. */
  meet(): void;
  /** Whether the sender still waits: then it sends nothing, and there is nothing to read before the refusal. */
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
 * Makes sure that the sender can read why it is refused: reads and discards the rest of its body, unless it has not
 * begun to send. The connection closes with the response.
 */
export async function drainBeforeRefusal(
  request: FastifyRequest,
  reply: FastifyReply,
  expectation: Expectation,
): Promise<void> {
  if (request.raw.complete) return;
  reply.header("connection", "close");
  if (!expectation.isOpen) await discardBody(request.raw);
}

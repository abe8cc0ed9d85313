import { z } from "zod";
import { Success, Uuid } from "../common.ts";
import type { ErrorCode } from "../errors.ts";

/** Path below the base URL that receives the files of uploads. */
export const uploadFilesPath = "/_/media/uploads";

/** The file PUT for the OpenAPI documents. Its URL is returned ready to use, and its signature is the permission. */
export const uploadFile = {
  id: "putUploadFile",
  summary: "Send the File of an Upload",
  description:
    "Sends the file to the URL that creating the upload returned, byte for byte. Use the URL unchanged: its query contains the signature. It needs no access token and no version header. If the server keeps its files in a bucket, the URL can be the bucket's, whose errors have another format.",
  /** The rest of the description, for the versions with staged uploads. */
  stagedDescription:
    "Send the headers of `media.upload.headers` too. For large files and unreliable connections, `media.upload.tus_url` of Create Upload accepts the same file in chunks with the tus 1.0 protocol (https://tus.io): HEAD returns how much has arrived, PATCH continues.",
  params: z.object({ upload_id: Uuid }),
  query: z.object({
    expires: z.string().meta({ description: "The parameter `expires` of the returned URL." }),
    signature: z.string().meta({ description: "The parameter `signature` of the returned URL." }),
  }),
  /** Required for uploads of the versions with staged uploads; otherwise optional. */
  ifNoneMatch: z.literal("*").meta({
    description: "Refuses to replace a file that has already arrived.",
  }),
  contentLength: z.int().min(0).optional().meta({
    description:
      "Size of the file in bytes; a file over `max_upload_bytes` is then refused before it is sent.",
  }),
  response: Success,
  errors: [
    "bad_request",
    "forbidden",
    "link_invalid",
    "link_expired",
    "quota_exceeded",
    "not_found",
    "request_timeout",
    "wrong_state",
    "already_uploaded",
    "body_too_large",
    "misdirected_request",
    "precondition_required",
    "internal",
    "unavailable",
  ],
} as const satisfies { errors: readonly ErrorCode[]; [field: string]: unknown };

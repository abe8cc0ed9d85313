import { Server } from "@tus/server";
import type { Config } from "../../../platform/config/config.ts";
import { resumablePath } from "./file-links.ts";
import { createResumableStore, type ResumableStoreDependencies } from "./resumable-store.ts";

export type TusRequest = Parameters<Server["handleWeb"]>[0];

/**
 * How long a request continues after another one has asked for its lease. The tus server allows it three seconds to
 * finish, but a sender only returns when it has abandoned the old connection.
 */
const handOverMs = 100;

/**
 * The tus server of all uploads.
 * @param onError gets the error that a request fails with.
 */
export function createTusServer(
  deps: ResumableStoreDependencies & { readonly config: Pick<Config, "baseUrl" | "maxUploadBytes"> },
  onError: (request: TusRequest, error: unknown) => void,
): Server {
  const { config, locker } = deps;
  return new Server({
    path: resumablePath,
    datastore: createResumableStore(deps),
    locker,
    lockDrainTimeout: handOverMs,
    // Returned by OPTIONS; each upload's own limit is checked by the route and in the store.
    maxSize: (_request, uploadId) => (uploadId === null ? config.maxUploadBytes : 0),
    allowedHeaders: ["X-Request-ID"],
    exposedHeaders: ["X-Request-Id"],
    namingFunction: (request) => idIn(request),
    getFileIdFromRequest: (request) => idIn(request),
    generateUrl: (request, { id }) => `${config.baseUrl}${resumablePath}/${id}${new URL(request.url).search}`,
    onResponseError: (request, error) => {
      onError(request, error);
      return undefined;
    },
  });
}

function idIn(request: TusRequest): string {
  return new URL(request.url).pathname.slice(1);
}

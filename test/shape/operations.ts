import { oauthPaths } from "../../contract/accounts/oauth.ts";
import * as tokenInfo from "../../contract/accounts/token-info.ts";
import type { Operation } from "../../contract/operation.ts";
import * as recordings from "../../contract/recordings/recording-operations.ts";
import { transcriptJson, transcriptText } from "../../contract/transcripts/transcripts.ts";
import * as uploads from "../../contract/uploads/uploads.ts";
import * as hooks from "../../contract/webhooks/hooks.ts";
import * as directory from "../../contract/workspace/directory.ts";

/** An operation that a test has to call. */
export type CoveredOperation = Pick<Operation, "id" | "gate" | "method" | "path" | "summary">;

function isOperation(value: unknown): value is Operation {
  return (
    typeof value === "object" && value !== null && "gate" in value && "path" in value && "method" in value
  );
}

/** It takes neither a version nor an access token, so it is no operation like the others. */
const tokenEndpoint: CoveredOperation = {
  id: "oauthToken",
  gate: "every_version",
  method: "POST",
  path: oauthPaths.token,
  summary: "Generate or Refresh Token",
};

/** Every operation of the contract that takes a version and an access token. */
export const versionedOperations: readonly Operation[] = [recordings, uploads, hooks, directory, tokenInfo]
  .flatMap((module) => Object.values(module) as unknown[])
  .concat([transcriptJson, ...Object.values(transcriptText)])
  .filter(isOperation);

/** Every operation of the contract. */
export const operations: readonly CoveredOperation[] = [...versionedOperations, tokenEndpoint];

/**
 * The operation that a request calls.
 * @param request `METHOD /path` without a query.
 */
export function operationOf(request: string): CoveredOperation | undefined {
  const [method, path = ""] = request.split(" ");
  const parts = path.split("/");
  const matches = operations.filter((operation) => {
    const wanted = operation.path.split("/");
    return (
      operation.method === method &&
      wanted.length === parts.length &&
      wanted.every((part, index) => (part.startsWith(":") ? parts[index] !== "" : part === parts[index]))
    );
  });
  // A path that is spelled out wins over one with a parameter in its place, as it does in the router.
  return matches.find(({ path: literal }) => literal === path) ?? matches[0];
}

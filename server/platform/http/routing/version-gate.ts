import type { FastifyReply, FastifyRequest } from "fastify";
import {
  type ApiVersion,
  isVersionName,
  type VersionName,
  type VersionStatus,
  versionNames,
  versions,
} from "../../../../contract/versions.ts";
import type { VersionOverride } from "../../config/values.ts";
import { ProblemError } from "../errors/problem.ts";

const migrationNotes = "/docs/migration";

/** The versions of this server: the contract's table with the operator's settings applied. */
export function effectiveVersions(
  overrides: ReadonlyMap<VersionName, VersionOverride>,
): ReadonlyMap<VersionName, ApiVersion> {
  return new Map(
    versions.map((version) => {
      const override = overrides.get(version.name);
      return [version.name, override === undefined ? version : { ...version, ...override }];
    }),
  );
}

/** A sunsetting version is retired on its date, without a change of settings. */
export function statusAt(version: ApiVersion, now: Date): VersionStatus {
  const isOver = version.sunsetOn !== undefined && Date.parse(version.sunsetOn) <= now.getTime();
  return version.status === "sunsetting" && isOver ? "retired" : version.status;
}

/**
 * Reads the API version of a request.
 * @throws ProblemError when the header is missing, names no known version, or one that is retired.
 */
export function readVersion(
  request: FastifyRequest,
  known: ReadonlyMap<VersionName, ApiVersion>,
  now: Date,
): ApiVersion {
  const header = request.headers["public-api-version"];
  const name = Array.isArray(header) ? header[0] : header?.trim();
  const choice = `send one of: ${versionNames.join(", ")}`;
  if (name === undefined || name === "")
    throw new ProblemError("version_missing", `every request needs the header Public-Api-Version; ${choice}`);
  const version = isVersionName(name) ? known.get(name) : undefined;
  if (version === undefined)
    throw new ProblemError(
      "version_unknown",
      `the Public-Api-Version header is not a known version; ${choice}`,
    );
  if (statusAt(version, now) === "retired") {
    throw new ProblemError("version_retired", `version ${version.name} is retired; see ${migrationNotes}`, {
      headers: lifecycleHeaders(version),
    });
  }
  return version;
}

/** Announces that a version is deprecated or sunsetting. Sources: RFC 9745 (Deprecation), RFC 8594 (Sunset). */
export function announceLifecycle(reply: FastifyReply, version: ApiVersion): void {
  if (version.status !== "current") reply.headers(lifecycleHeaders(version));
}

function lifecycleHeaders(version: ApiVersion): Record<string, string> {
  // The header needs a date: for a version deprecated by the operator, its release date.
  const since = Date.parse(version.deprecatedOn ?? version.name);
  const relations = version.sunsetOn === undefined ? ["deprecation"] : ["deprecation", "sunset"];
  return {
    deprecation: `@${Math.floor(since / 1000)}`,
    ...(version.sunsetOn === undefined ? {} : { sunset: new Date(version.sunsetOn).toUTCString() }),
    link: relations.map((relation) => `<${migrationNotes}>; rel="${relation}"; type="text/html"`).join(", "),
  };
}

/** How long before its sunset date a version's rate limit shrinks, in milliseconds: 90 days. */
const shrinkingPeriodMs = 90 * 86_400_000;

/** Never below a tenth, so that late clients still get responses that announce the sunset. */
const minShare = 0.1;

/**
 * A version's share of the rate limit, which the contract reduces gradually while sunsetting: linearly over the 90 days before
 * the date; without a date it is one half.
 */
export function rateShare(version: ApiVersion, now: Date): number {
  if (version.status !== "sunsetting") return 1;
  if (version.sunsetOn === undefined) return 0.5;
  const left = Date.parse(version.sunsetOn) - now.getTime();
  return Math.min(1, Math.max(minShare, left / shrinkingPeriodMs));
}

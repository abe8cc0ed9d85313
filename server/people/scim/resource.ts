import { createHash } from "node:crypto";
import { ScimError } from "./scim-error.ts";

/** A resource as SCIM sends it, with its version. */
export type Resource = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly meta: { readonly location: string; readonly version: string };
};

/** Adds `meta` to a resource. The version is a hash of what is shown, so that it changes exactly when that does. */
export function describe<T extends { readonly id: string }>(
  content: T,
  of: {
    readonly resourceType: "User" | "Group";
    readonly baseUrl: string;
    readonly created: Date;
    /** What the version depends on; left out: the content. */
    readonly versionOf?: unknown;
  },
): T & Resource {
  const hash = createHash("sha256").update(JSON.stringify(of.versionOf ?? content));
  return {
    ...content,
    meta: {
      resourceType: of.resourceType,
      created: of.created.toISOString(),
      location: `${of.baseUrl}/${of.resourceType}s/${content.id}`,
      version: `W/"${hash.digest("base64url").slice(0, 22)}"`,
    },
  };
}

/** Whether one of the entity tags of a header names the version. Weak comparison. Source: RFC 9110, section 8.8.3.2. */
export function isNamedBy(header: string | undefined, { meta }: Resource): boolean {
  if (header === undefined) return false;
  const opaque = (tag: string): string => tag.trim().replace(/^W\//, "");
  return header.split(",").some((tag) => tag.trim() === "*" || opaque(tag) === opaque(meta.version));
}

/** @throws ScimError 412 when the request is for another version. */
export function checkVersion(ifMatch: string | undefined, resource: Resource): void {
  if (ifMatch !== undefined && !isNamedBy(ifMatch, resource))
    throw new ScimError(412, `the resource has changed; its version is ${resource.meta.version}`);
}

export function notFound(kind: "user" | "group", id: string): ScimError {
  return new ScimError(404, `there is no ${kind} ${id.slice(0, 100)} here`);
}

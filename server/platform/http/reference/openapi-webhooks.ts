import { z } from "zod";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { Uuid } from "../../../../contract/common.ts";
import type { VersionName } from "../../../../contract/versions.ts";
import { hookData } from "../../../../contract/webhooks/hook-payloads.ts";
import { type HookType, hookTypes, hookTypesIn } from "../../../../contract/webhooks/hook-types.ts";
import { includeOf } from "../../../../contract/webhooks/hooks.ts";
import { headerRefs } from "./openapi-responses.ts";

/** The webhooks of a version for its OpenAPI document: one for each hook type. */
export function webhooksOf(version: VersionName): ZodOpenApiPathsObject {
  return Object.fromEntries(hookTypesIn(version).map((type) => [type, { post: webhook(type) }]));
}

const signatureHeaders = z.object({
  "webhook-id": z.string().meta({ description: "The message's id; the same for every attempt." }),
  "webhook-timestamp": z.string().meta({ description: "When this attempt was made, in Unix seconds." }),
  "webhook-signature": z.string().meta({
    description:
      "Signatures of Standard Webhooks (https://www.standardwebhooks.com) separated by spaces: `v1,` and the HMAC-SHA256 over id, timestamp and body in base64. Two while the secret is being rotated.",
  }),
});

function webhook(type: HookType) {
  const { summary } = hookTypes[type];
  const data = hookData(type);
  return {
    operationId: `on${pascal(type)}`,
    tags: ["Hooks"],
    summary,
    description: `Sent to hooks of type \`${type}\`. Optional fields are there if the hook's include asks for them. A test event has \`{"test": true}\` as its data.`,
    // The signature authenticates the request.
    security: [],
    requestParams: { header: signatureHeaders },
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: z
            .strictObject({
              type: z.literal(type),
              user_id: Uuid.meta({ description: "The hook's owner." }),
              data,
            })
            .meta({ id: `${pascal(type)}Payload` }),
        },
      },
    },
    responses: {
      "2XX": { description: "Received. Any other response, or none within 15 seconds, is retried." },
      "410": { description: "Disables the hook." },
      "429": { description: "Retried later.", headers: headerRefs(["Retry-After"]) },
      "503": { description: "Retried later.", headers: headerRefs(["Retry-After"]) },
    },
  };
}

function pascal(type: HookType): string {
  return type.replace(/(?:^|_)(\w)/g, (_match, letter: string) => letter.toUpperCase());
}

/** The hook types of a version by the name of their include schema. */
function typesByInclude(version: VersionName): Map<string, HookType[]> {
  const byInclude = new Map<string, HookType[]>();
  for (const type of hookTypesIn(version)) {
    const include = includeOf(type);
    const name = include?.meta()?.id;
    if (name !== undefined) byInclude.set(name, [...(byInclude.get(name) ?? []), type]);
  }
  return byInclude;
}

const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** The include schemas of a version's hook types as alternatives. */
export function includeAlternatives(version: VersionName) {
  return { anyOf: [...typesByInclude(version).keys()].map(refTo) };
}

/** JSON Schema conditions that tie the include of a new hook to its type. */
export function includeByType(version: VersionName): object {
  return [...typesByInclude(version)].reduceRight<object>(
    (otherwise, [name, types]) => ({
      if: { properties: { hook_type: { enum: types } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
      then: { properties: { include: refTo(name) } },
      ...(Object.keys(otherwise).length === 0 ? {} : { else: otherwise }),
    }),
    {},
  );
}

/** Include schemas that no operation uses, so that references find them. */
export function includeSchemas(version: VersionName): Record<string, z.ZodObject> {
  return Object.fromEntries(
    hookTypesIn(version).flatMap((type) => {
      const include = includeOf(type);
      return include === null ? [] : [[include.meta()?.id ?? "", include]];
    }),
  );
}

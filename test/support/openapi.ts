import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { isVersionName, versionNames, versions } from "../../contract/versions.ts";

interface Content {
  readonly content?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, { readonly required?: boolean }>>;
}

interface Described {
  readonly parameters?: readonly { readonly name: string }[];
  readonly responses: Readonly<Record<string, Content>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly webhooks: Readonly<Record<string, unknown>>;
}

interface OpenDocument {
  readonly document: Document;
  /** The path templates, the most literal ones first. */
  readonly templates: readonly { readonly template: string; readonly matches: RegExp }[];
  /** Validates a value by the schema at a JSON pointer; each is compiled once. */
  validate(pointer: readonly string[], value: unknown): void;
}

/** Its document describes what needs no version header, which is the same in every version. */
const currentVersion = versions.find(({ status }) => status === "current")?.name ?? "";

const documents = new Map<string, OpenDocument>();

/** Reads the document of a version, which test/clients keeps equal to the one that the server returns. */
function open(version: string): OpenDocument {
  const known = documents.get(version);
  if (known !== undefined) return known;
  const file = new URL(`../../packages/openapi/${version}.json`, import.meta.url);
  const document = JSON.parse(readFileSync(file, "utf8")) as Document;
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  ajv.addSchema(document, version);
  const compiled = new Map<string, ValidateFunction>();
  const opened: OpenDocument = {
    document,
    templates: Object.keys(document.paths)
      .sort((a, b) => a.split("{").length - b.split("{").length)
      .map((template) => ({
        template,
        matches: new RegExp(`^${template.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`),
      })),
    validate(pointer, value) {
      const ref = `${version}#/${pointer.map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/")}`;
      const check = compiled.get(ref) ?? ajv.compile({ $ref: ref });
      compiled.set(ref, check);
      assert.ok(
        check(value),
        `${ref}: ${ajv.errorsText(check.errors)}: ${JSON.stringify(value).slice(0, 500)}`,
      );
    },
  };
  documents.set(version, opened);
  return opened;
}

/** A response to validate. */
interface ReceivedResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The body as JSON; undefined if it is not JSON. */
  readonly body: unknown;
}

/** Responses that HTTP itself has for every request, whatever its path. */
const anywhere = new Set([405, 408, 414, 431]);

/** Headers that HTTP defines for every response, or that tell browsers what to do with it. */
const undescribedHeaders =
  /^(?:access-control-.*|allow|cache-control|connection|content-(?:disposition|length|security-policy|type)|cross-origin-.*|date|keep-alive|permissions-policy|pragma|referrer-policy|server|strict-transport-security|transfer-encoding|vary|x-content-type-options|x-frame-options)$/;

/**
 * Checks that the OpenAPI document of a version describes a response: its status, headers, content type and body.
 * Requests for which the version has no operation are ignored.
 * @param version of the request; undefined for one without, such as to the OAuth endpoints.
 */
export function assertDescribed(
  version: string | undefined,
  method: string,
  path: string,
  response: ReceivedResponse,
): void {
  if (version !== undefined && !isVersionName(version)) return;
  const { document, templates, validate } = open(version ?? currentVersion);
  const plain = path.split("?", 1)[0] ?? "";
  const verb = method.toLowerCase();
  const template = templates.find(({ matches }) => matches.test(plain))?.template;
  const operation = template === undefined ? undefined : document.paths[template]?.[verb];
  if (template === undefined || operation === undefined || anywhere.has(response.status)) return;
  const isVersioned = operation.parameters?.some(({ name }) => name === "Public-Api-Version");
  if (version === undefined && isVersioned) return;
  const called = `${method} ${template} in ${version ?? currentVersion}: ${response.status}`;
  const described = operation.responses[response.status];
  assert.ok(described, `${called} is not in the OpenAPI document`);
  for (const [name, { required }] of Object.entries(described.headers ?? {}))
    assert.ok(!required || response.headers.has(name), `${called} lacks the header ${name}`);
  const names = new Set(Object.keys(described.headers ?? {}).map((name) => name.toLowerCase()));
  for (const name of response.headers.keys())
    assert.ok(
      names.has(name) || undescribedHeaders.test(name),
      `${called} has the header ${name}, which is not in the OpenAPI document`,
    );
  if (described.content === undefined) return;
  const type = response.headers.get("content-type")?.split(";", 1)[0] ?? "";
  assert.ok(described.content[type], `${called} has a body of type ${type}`);
  if (response.body === undefined) return;
  const pointer = ["paths", template, verb, "responses", String(response.status), "content", type, "schema"];
  validate(pointer, response.body);
}

/**
 * Sends a request that needs no version header, such as that of an upload's file, and checks that the OpenAPI document
 * describes the response.
 */
export async function fetchDescribed(
  url: string,
  init: RequestInit & { readonly method: string },
): Promise<Response> {
  const response = await fetch(url, init);
  const { status, headers } = response;
  const isJson = /[/+]json\b/.test(headers.get("content-type") ?? "");
  const body = isJson ? await response.clone().json() : undefined;
  assertDescribed(undefined, init.method, new URL(url).pathname, { status, headers, body });
  return response;
}

/** Checks that a webhook is as the OpenAPI document of a version with its hook type says. */
export function assertWebhookDescribed(payload: unknown): void {
  const { type, data } = payload as { readonly type: string; readonly data: object };
  // A test event.
  if (JSON.stringify(data) === '{"test":true}') return;
  const version = versionNames.find((name) => type in open(name).document.webhooks);
  assert.ok(version, `no OpenAPI document has webhooks of type ${type}`);
  // Tests of the order of deliveries number the events that they make up.
  const { n: _number, ...described } = data as { readonly n?: number };
  open(version).validate(["webhooks", type, "post", "requestBody", "content", "application/json", "schema"], {
    ...(payload as object),
    data: described,
  });
}

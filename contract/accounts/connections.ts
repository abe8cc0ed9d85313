import { z } from "zod";
import { Success, Timestamp, Uuid } from "../common.ts";
import { operation } from "../operation.ts";

const connectionKinds = ["zoom", "attendee", "vexa"] as const;
const Kind = z.enum(connectionKinds);

const Secret = (description: string) =>
  z.string().trim().min(1, "must not be blank").max(1000).optional().meta({ description });

/** A host name, or one with a leading dot for its subdomains. */
const Host = z
  .string()
  .trim()
  .toLowerCase()
  .max(253)
  .regex(/^\.?[a-z0-9-]+(?:\.[a-z0-9-]+)*$/, "must be a host name, or a dot and a domain");

export const Connection = z
  .strictObject({
    id: Uuid,
    kind: Kind,
    name: z.string(),
    webhook_url: z.string().meta({ description: "To be entered at the service." }),
    base_url: z.string(),
    media_hosts: z.array(z.string()),
    has_api_credentials: z.boolean(),
    created_datetime: Timestamp,
    received_datetime: Timestamp.nullable().meta({
      description: "When a webhook with a valid signature last arrived.",
    }),
  })
  .meta({ id: "Connection" });

const ConnectionEvent = z
  .strictObject({
    id: Uuid,
    type: z.string().meta({ example: "recording.completed" }),
    state: z.enum(["pending", "importing", "done", "ignored", "failed"]),
    reason: z
      .string()
      .nullable()
      .meta({ description: "Why it waits, was ignored, or failed, or what of its transcript was not read." }),
    attempts: z.int(),
    deliveries: z.int().meta({ description: "How often the service has sent it." }),
    recording_id: Uuid.nullable(),
    next_attempt_datetime: Timestamp.nullable().meta({ description: "Of a pending event." }),
    created_datetime: Timestamp,
  })
  .meta({ id: "ConnectionEvent" });

const base = { tag: "Connections", gate: "every_version", permission: "admin" } as const;
const params = z.object({ connection_id: Uuid });

export const listConnections = operation({
  ...base,
  id: "listConnections",
  method: "GET",
  path: "/_/api/v1/connections",
  summary: "List Connections",
  description: "Lists the workspace's connections to Zoom, Attendee and Vexa, without their secrets.",
  response: z.strictObject({ connections: z.array(Connection) }),
  errors: ["forbidden"],
});

export const createConnection = operation({
  ...base,
  id: "createConnection",
  method: "POST",
  path: "/_/api/v1/connections",
  summary: "Create Connection",
  description:
    "Connects Zoom, Attendee or Vexa: recordings that the service reports to `webhook_url` are imported. At most 20 per workspace. Secrets are stored encrypted and never returned.",
  body: z.object({
    kind: Kind,
    name: z.string().trim().min(1, "must not be blank").max(200),
    webhook_secret: z.string().trim().min(1, "must not be blank").max(1000).meta({
      description:
        "Zoom: the app's secret token. Attendee and Vexa: the secret that they sign webhooks with.",
    }),
    base_url: z.string().trim().max(1000).optional().meta({
      description:
        "URL of the service; required for Attendee and Vexa. Default for Zoom: https://zoom.us. Must be https, except for this machine or with `allow_http`.",
    }),
    allow_http: z.boolean().optional().meta({
      description:
        "Accepts a base_url without https, other than of this machine: credentials and recordings are sent unencrypted.",
    }),
    api_key: Secret("Attendee and Vexa: the key for the service's API; required for them."),
    account_id: Secret("Zoom: of the server-to-server OAuth app."),
    client_id: Secret("Zoom: of the server-to-server OAuth app."),
    client_secret: Secret("Zoom: of the server-to-server OAuth app."),
    media_hosts: z
      .array(Host)
      .max(10)
      .optional()
      .meta({
        description:
          "Further hosts that files may be downloaded from, such as the object store of an Attendee; a leading dot allows subdomains.",
        example: [".s3.amazonaws.com"],
      }),
  }),
  response: Connection,
  errors: ["invalid_json", "invalid_input", "body_too_large", "forbidden", "quota_exceeded"],
});

export const deleteConnection = operation({
  ...base,
  id: "deleteConnection",
  method: "DELETE",
  path: "/_/api/v1/connections/:connection_id",
  summary: "Delete Connection",
  description: "Deletes a connection with its secrets and events. Imported recordings stay.",
  params,
  response: Success,
  errors: ["forbidden", "not_found"],
});

export const listConnectionEvents = operation({
  ...base,
  id: "listConnectionEvents",
  method: "GET",
  path: "/_/api/v1/connections/:connection_id/events",
  summary: "List Connection Events",
  description: "Lists the latest 50 events of a connection with their outcome, newest first.",
  params,
  response: z.strictObject({ events: z.array(ConnectionEvent) }),
  errors: ["forbidden", "not_found"],
});

export const retryConnectionEvent = operation({
  ...base,
  id: "retryConnectionEvent",
  method: "POST",
  path: "/_/api/v1/connections/:connection_id/events/:event_id/retry",
  summary: "Retry Connection Event",
  description: "Tries a failed event again. The secrets in use are those of the connection.",
  params: params.extend({ event_id: Uuid }),
  response: Success,
  errors: ["forbidden", "not_found", "wrong_state"],
});

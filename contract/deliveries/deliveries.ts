import { z } from "zod";
import { CursorInput, NextCursor, Success, Timestamp, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { deliveryStates } from "../webhooks/hook-management.ts";
import { maxTemplateLength, placeholderNames, unknownPlaceholders } from "./template.ts";

/** Deliveries send the summary of a recording to a chat, by email, or as a Markdown file, when it is ready. */

/** Those with an incoming webhook. */
export const chatKinds = ["slack", "teams", "mattermost", "discord"] as const;
export type ChatKind = (typeof chatKinds)[number];
const destinationKinds = [...chatKinds, "email", "markdown"] as const;
export type DestinationKind = (typeof destinationKinds)[number];

const tag = "Deliveries";
const gate = "every_version";
const path = "/_/api/v1/deliveries/:delivery_id";
const DeliveryParams = z.object({ delivery_id: Uuid });
const writeErrors = ["invalid_json", "invalid_input", "body_too_large", "forbidden", "not_found"] as const;

const Kind = z.enum(destinationKinds).meta({
  description:
    "`slack`, `teams`, `mattermost`, `discord`: an incoming webhook. `email`: participants who are users of the workspace, can see the recording and have not unsubscribed. `markdown`: a file for each recording. `email` and `markdown` are for admins and workspace tokens.",
});

const Conditions = z
  .strictObject({
    team_id: Uuid.optional().meta({ description: "Shared with this team." }),
    meeting_type_id: Uuid.optional().meta({ description: "Of this meeting type." }),
    tag: z.string().trim().min(1).max(200).optional().meta({ description: "With this tag, in any case." }),
    scope: z.enum(["internal", "external"]).optional().meta({
      description: "external: at least one participant is external. internal: all other recordings.",
    }),
    title: z.string().trim().min(1).max(200).optional().meta({
      description: "The title contains this text, in any case and without accents.",
    }),
  })
  .meta({
    id: "DeliveryConditions",
    description: "A recording is sent if it meets all of them. Empty: every recording.",
  });
export type Conditions = z.output<typeof Conditions>;

const Template = z
  .string()
  .max(maxTemplateLength)
  .refine((text) => text.trim() !== "", "must not be blank")
  .superRefine((text, context) => {
    const [unknown] = unknownPlaceholders(text);
    if (unknown !== undefined)
      context.addIssue({
        code: "custom",
        message: `has the unknown placeholder {${unknown}}; choose from ${placeholderNames.map((name) => `{${name}}`).join(", ")}`,
      });
  })
  .nullable()
  .meta({
    description: `Markdown that is sent below the title, with placeholders: ${placeholderNames.map((name) => `\`{${name}}\``).join(", ")}. \`{transcript}\` is the first lines of the transcript, where there is no summary. In a template without it, they take the place of \`{summary}\`. A line whose placeholders are all empty is left out, and so is a heading without text. null: the default.`,
  });

const Name = z.string().trim().min(1).max(100);
const WebhookUrl = z.string().max(2000).meta({
  description:
    "The incoming webhook's URL, for chats only. It is stored encrypted and never shown again. URLs in private networks are refused when they are used.",
});
const Folder = z.string().trim().max(500).meta({
  description:
    "For `markdown`: a folder below `notes/<workspace id>` in the installation's file store (a folder or a bucket), as `team/meetings`. Files are in its folders `YYYY/MM`.",
});
const LinkPeople = z.boolean().meta({ description: "For `markdown`: writes names as `[[name]]`." });

export const Destination = z
  .strictObject({
    id: Uuid,
    kind: Kind,
    name: z.string(),
    host: z.string().nullable().meta({ description: "The host of the webhook's URL; null: it has none." }),
    folder: z.string().nullable(),
    link_people: z.boolean(),
    conditions: Conditions,
    template: z.string().nullable().meta({ description: "null: the default." }),
    user_id: Uuid.meta({
      description:
        "The owner: only recordings that this user can see are sent. Who changes a delivery becomes its owner.",
    }),
    enabled: z.boolean(),
    disabled_reason: z.string().nullable().meta({ description: "null: it is enabled." }),
    failing_since: Timestamp.nullable().meta({
      description: "Start of the current run of failed attempts; null if the last attempt succeeded.",
    }),
    pending: z.int().min(0).meta({ description: "Recordings that wait for their first or next attempt." }),
    last_attempt: z
      .strictObject({
        datetime: Timestamp,
        status: z.int().nullable(),
        error: z.string().nullable().meta({ description: "Why it failed; null: it succeeded." }),
      })
      .nullable(),
    created_datetime: Timestamp,
  })
  .meta({ id: "Destination" });
export type Destination = z.output<typeof Destination>;

export const DestinationAttempt = z
  .strictObject({
    id: Uuid,
    recording_id: Uuid,
    title: z.string().nullable().meta({
      description: "The recording's title; null: it was deleted, or the caller can't see it.",
    }),
    state: z.enum(deliveryStates).meta({
      description:
        "`pending`: waits for its first or next attempt. `delivered`: sent. `exhausted`: every attempt failed, or the server stopped during one. `gone`: the receiver returned 410. `withheld`: not sent, because the owner can't see the recording, it no longer meets the conditions, or it was deleted.",
    }),
    attempts: z.int().min(0),
    created_datetime: Timestamp,
    due_datetime: Timestamp.nullable().meta({
      description: "Time of the next attempt; null unless pending.",
    }),
    last_datetime: Timestamp.nullable(),
    last_status: z.int().nullable(),
    last_error: z.string().nullable(),
    last_response: z.string().nullable().meta({
      description: "The beginning of the last response; null if the caller can't see the recording.",
    }),
  })
  .meta({ id: "DestinationAttempt" });
export type DestinationAttempt = z.output<typeof DestinationAttempt>;

const SentRecording = z.strictObject({ id: Uuid, title: z.string() });

export const listDestinations = operation({
  id: "listDestinations",
  tag,
  gate,
  permission: "read",
  method: "GET",
  path: "/_/api/v1/deliveries",
  summary: "List Deliveries of Summaries",
  description:
    "Lists the caller's deliveries, newest first; for admins and workspace tokens, all of the workspace.",
  response: z.strictObject({ deliveries: z.array(Destination) }),
  errors: [],
});

export const createDestination = operation({
  id: "createDestination",
  tag,
  gate,
  permission: "write",
  method: "POST",
  path: "/_/api/v1/deliveries",
  summary: "Create Delivery",
  description:
    "Sends each recording that becomes ready from now on: with its summary, or with its transcript where there is no language model. Each recording is sent once; a Markdown file follows its recording.",
  body: z.object({
    kind: Kind,
    name: Name.optional().meta({ description: "Default: the kind." }),
    url: WebhookUrl.optional(),
    folder: Folder.optional(),
    link_people: LinkPeople.default(false),
    conditions: Conditions.default({}),
    template: Template.default(null),
  }),
  response: Destination,
  errors: ["invalid_json", "invalid_input", "body_too_large", "forbidden", "quota_exceeded", "wrong_state"],
});

export const updateDestination = operation({
  id: "updateDestination",
  tag,
  gate,
  permission: "write",
  method: "PATCH",
  path,
  summary: "Update Delivery",
  description:
    "Changes a delivery, or disables and enables it. Allowed for its owner, admins and workspace tokens. Unless it is only disabled, the caller becomes its owner: what they can't see is not sent.",
  params: DeliveryParams,
  body: z.object({
    name: Name.optional(),
    url: WebhookUrl.optional(),
    folder: Folder.optional(),
    link_people: LinkPeople.optional(),
    conditions: Conditions.optional(),
    template: Template.optional(),
    enabled: z.boolean().optional(),
  }),
  response: Destination,
  errors: [...writeErrors, "wrong_state"],
});

export const deleteDestination = operation({
  id: "deleteDestination",
  tag,
  gate,
  permission: "write",
  method: "DELETE",
  path,
  summary: "Delete Delivery",
  description:
    "Deletes a delivery with its log. Markdown files that it wrote are kept until their recordings are deleted or erased.",
  params: DeliveryParams,
  response: Success,
  errors: ["not_found"],
});

export const testDestination = operation({
  id: "testDestination",
  tag,
  gate,
  permission: "write",
  method: "POST",
  path: `${path}/test`,
  summary: "Test Delivery",
  description:
    "Sends a message now, marked as a test, through the same code as recordings, and returns the response: of the newest recording that would be sent and that the caller can see, or a sample. An email goes to the caller; a Markdown file is written and removed.",
  params: DeliveryParams,
  response: z.strictObject({
    recording: SentRecording.nullable().meta({ description: "What was sent; null: a sample." }),
    ok: z.boolean(),
    status: z.int().nullable().meta({ description: "null: there was no HTTP response." }),
    error: z.string().nullable(),
    response: z.string().meta({ description: "The beginning of the response's body." }),
    duration_ms: z.int().min(0),
  }),
  errors: ["not_found", "wrong_state", "rate_limited"],
});

export const previewDestination = operation({
  id: "previewDestination",
  tag,
  gate,
  permission: "write",
  method: "POST",
  path: "/_/api/v1/deliveries/preview",
  summary: "Preview Delivery",
  description:
    "Returns what would be sent of a recording that the caller can see: the given one, or the newest that a delivery with these conditions would send, or a sample.",
  body: z.object({
    kind: Kind,
    recording_id: Uuid.optional().meta({ description: "Default: the newest that would be sent." }),
    conditions: Conditions.default({}),
    template: Template.default(null),
    link_people: LinkPeople.default(false),
  }),
  response: z.strictObject({
    recording: SentRecording.nullable().meta({ description: "What is shown; null: a sample." }),
    recordings: z.array(SentRecording).meta({
      description:
        "The newest recordings that a delivery with these conditions would send, of those that the caller can see, up to 20: with a summary, or with a transcript where there is no language model.",
    }),
    title: z.string(),
    text: z.string().meta({ description: "As Markdown, before the service's format." }),
    payload: z.string().meta({ description: "What is sent: JSON for chats, the email's text, or the file." }),
    truncated: z.boolean().meta({ description: "Whether it was cut to the service's limit." }),
  }),
  errors: ["invalid_json", "invalid_input", "body_too_large", "not_found"],
});

export const listDestinationAttempts = operation({
  id: "listDestinationAttempts",
  tag,
  gate,
  permission: "read",
  method: "GET",
  path: `${path}/attempts`,
  summary: "List Delivery Attempts",
  description: "Lists the recordings that were sent or wait, newest first, paginated. Kept for 30 days.",
  params: DeliveryParams,
  query: z.object({ cursor: CursorInput.optional() }),
  response: z.strictObject({ attempts: z.array(DestinationAttempt), cursor: NextCursor }),
  errors: ["invalid_input", "invalid_cursor", "not_found"],
});

export const resendDestinationAttempt = operation({
  id: "resendDestinationAttempt",
  tag,
  gate,
  permission: "write",
  method: "POST",
  path: `${path}/attempts/:attempt_id/resend`,
  summary: "Resend Delivery Attempt",
  description:
    "Sends a recording again, as it is now, in any state but `withheld`, and restarts its retry schedule. Returns 409 if the delivery is disabled or the recording is withheld.",
  params: DeliveryParams.extend({ attempt_id: Uuid }),
  response: DestinationAttempt,
  errors: ["not_found", "wrong_state"],
});

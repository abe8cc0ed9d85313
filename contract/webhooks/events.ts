import { z } from "zod";
import { maxCursorLength, Timestamp, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { AnyHookType } from "./hooks.ts";

/** One event of the feed. */
export const Event = z
  .strictObject({
    id: Uuid.meta({ description: "The event's id; the same on every read." }),
    type: AnyHookType,
    occurred_datetime: Timestamp,
    data: z.record(z.string(), z.unknown()).meta({
      description:
        "The payload of a hook without include. Statuses and deleted objects are as they were at the time, everything else is current; an object that no longer exists has only its `id`.",
    }),
  })
  .meta({ id: "Event" });

export const maxFeedPage = 500;
export const defaultFeedPage = 100;

const EventTypes = z
  .string()
  .max(1000)
  .refine(
    (text) => text.split(",").every((name) => AnyHookType.safeParse(name).success),
    `must be hook types separated by commas: ${AnyHookType.options.join(", ")}`,
  )
  .meta({ description: "Hook types separated by commas. Default: all.", example: "recording_added" });

const Limit = z
  .string()
  .refine(
    (text) => /^\d{1,9}$/.test(text) && Number(text) >= 1 && Number(text) <= maxFeedPage,
    `must be a whole number from 1 to ${maxFeedPage}`,
  )
  .meta({ description: `Maximum number of events. Default: ${defaultFeedPage}.`, example: "100" });

export const listEvents = operation({
  id: "listEvents",
  tag: "Events",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/events",
  summary: "List Events",
  description:
    "Lists events in order, oldest first: what hooks are sent, for clients that would rather poll. A workspace token reads all the workspace's events, a personal token those its user can see now. Events are kept for 30 days.",
  query: z.object({
    cursor: z.string().max(maxCursorLength).optional().meta({
      description:
        "The `cursor` of the previous response; no event is skipped or repeated. It continues with the same `types` and `limit` unless others are sent. Left out: start at the oldest event. A cursor expires when the events after it are deleted, after 30 days: 410.",
    }),
    types: EventTypes.optional(),
    limit: Limit.optional(),
  }),
  response: z.strictObject({
    events: z.array(Event).meta({
      description:
        "May be empty while has_more is true, if the types or the caller's permissions exclude many events.",
    }),
    cursor: z.string().meta({
      description: "Where to continue, now or later; never null.",
    }),
    has_more: z.boolean().meta({ description: "false: there are no more events yet." }),
  }),
  errors: ["invalid_input", "invalid_cursor", "cursor_expired"],
});

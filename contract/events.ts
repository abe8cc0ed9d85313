import { z } from "zod";
import { Timestamp, Uuid } from "./common.ts";
import { HookTypeName } from "./hooks.ts";
import { operation } from "./operation.ts";

/** Something that happened, as the feed tells it. */
export const Event = z
  .strictObject({
    id: Uuid.meta({ description: "Names the event; the same whenever it is read." }),
    type: HookTypeName,
    occurred_datetime: Timestamp,
    data: z.record(z.string(), z.unknown()).meta({
      description:
        "As a hook without include would get it: statuses and what was deleted as they were, the rest as it is now; only the `id` of what is not there any more.",
    }),
  })
  .meta({ id: "Event" });

export const maxFeedPage = 500;
export const defaultFeedPage = 100;

const EventTypes = z
  .string()
  .max(1000)
  .refine(
    (text) => text.split(",").every((name) => HookTypeName.safeParse(name).success),
    `must be hook types separated by commas; they are ${HookTypeName.options.join(", ")}`,
  )
  .meta({ description: "Hook types separated by commas; left out: all.", example: "recording_added" });

const Limit = z
  .string()
  .refine(
    (text) => /^\d{1,9}$/.test(text) && Number(text) >= 1 && Number(text) <= maxFeedPage,
    `must be a whole number from 1 to ${maxFeedPage}`,
  )
  .meta({ description: `Most events of a page; ${defaultFeedPage} when left out.`, example: "100" });

export const listEvents = operation({
  id: "listEvents",
  tag: "Events",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/events",
  summary: "List Events",
  description:
    "What happened, in order, oldest first: to fetch what a hook would be sent. A workspace token reads all events of the workspace, a personal one those its user may see at this moment. Events are kept for 30 days.",
  query: z.object({
    cursor: z.string().max(200).optional().meta({
      description:
        "The `cursor` of the previous response: nothing is left out or comes twice. Left out: from the oldest event kept. Good as long as what follows it is kept: for 30 days from the last page; 410 afterwards.",
    }),
    types: EventTypes.optional(),
    limit: Limit.optional(),
  }),
  response: z.strictObject({
    events: z.array(Event).meta({
      description: "May be empty although has_more is true, when types or rights leave out much.",
    }),
    cursor: z.string().meta({
      description: "Where to go on, now or when something new may have happened; there is always one.",
    }),
    has_more: z.boolean().meta({ description: "false: that was all so far." }),
  }),
  errors: ["invalid_input", "invalid_cursor", "cursor_expired"],
});

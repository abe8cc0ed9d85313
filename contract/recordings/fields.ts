import { z } from "zod";
import { isInOrder, Timestamp, TimestampInput, toTimestamp } from "../common.ts";
import { Recording, recordingLimits, ShareState, Source, Tag } from "./recordings.ts";
import { isTag, uniqueTags } from "./tag.ts";

/*
 * The fields of a recording that mean the same on every server: each is a column of `recordings`. Importing, changing,
 * reading, storing, exporting and importing an export all follow from this list. What refers to something else of the
 * workspace (users, teams, participants, meeting types), and what the file decides, is not in it.
 */

interface Given<Input extends z.ZodType, Stored extends z.ZodType> {
  /** What a request may say. */
  readonly input: Input;
  /**
   * What is stored, and written into exports. One that was added later has a default, because exports of earlier versions
   * lack it.
   */
  readonly stored: Stored;
  readonly normalize: (value: z.output<Input>) => z.output<Stored>;
  /** What can be kept of a value from elsewhere, and how much of it can't. Default: all or nothing. */
  readonly repair?: (value: z.output<Stored>) => { value: z.output<Stored>; omitted: number };
  /** Whether its column holds JSON. */
  readonly isJson?: true;
  /** Valid inputs, different from each other and from what a recording has that nobody gave one. */
  readonly examples: readonly [z.input<Input>, z.input<Input>];
}

function define<Input extends z.ZodType, Stored extends z.ZodType>(given: Given<Input, Stored>) {
  const { input, stored, normalize, isJson = false, examples } = given;
  const whole = (value: z.output<Stored>) => ({ value, omitted: 0 });
  const { repair = whole } = given;
  return {
    stored,
    isJson,
    examples,
    normalize: (value: unknown) => (value === null ? null : normalize(input.parse(value))),
    /** A value from elsewhere, which has the type of what is stored, as an input; undefined: none. */
    fit(value: unknown): { input: z.output<Input> | undefined; omitted: number } {
      if (value == null) return { input: undefined, omitted: 0 };
      const repaired = repair(value as z.output<Stored>);
      const parsed = input.safeParse(repaired.value);
      return parsed.success
        ? { input: parsed.data, omitted: repaired.omitted }
        : { input: undefined, omitted: 1 };
    },
  };
}

/** A field that every recording has. @param importNote what Import Recording says about it. */
function required<Input extends z.ZodType, Stored extends z.ZodType>(
  initial: z.output<Stored>,
  given: Given<Input, Stored>,
  importNote?: string,
) {
  const imported = given.input.optional();
  return {
    ...define(given),
    initial,
    change: given.input.optional(),
    import: importNote === undefined ? imported : imported.meta({ description: importNote }),
  };
}

/** A field that a recording may lack. */
function nullable<Input extends z.ZodType, Stored extends z.ZodType>(given: Given<Input, Stored>) {
  return {
    ...define(given),
    initial: null,
    change: given.input.nullable().optional().meta({ description: "null removes it." }),
    import: given.input.optional(),
  };
}

const itself = <T>(value: T): T => value;

/** Enough for a name of any recording, and a bound for files from elsewhere. */
const Name = z.string().max(5000);

export const TagsInput = z
  .array(Tag)
  .max(recordingLimits.tags)
  .meta({ description: "The order is kept; duplicates are dropped." });

const ScheduledTime = TimestampInput.nullable().default(null);

const CalendarEventInput = z
  .object({
    ical_uid: z.string().trim().min(1, "must not be blank").max(1000).nullable().default(null),
    scheduled_start_datetime: ScheduledTime,
    scheduled_end_datetime: ScheduledTime,
  })
  .refine(({ scheduled_start_datetime: start, scheduled_end_datetime: end }) => isInOrder(start, end), {
    path: ["scheduled_end_datetime"],
    message: "must be after scheduled_start_datetime",
  })
  .meta({ id: "CalendarEventInput" });

const CalendarEvent = z.object({
  ical_uid: Name.nullable(),
  scheduled_start_datetime: Timestamp.nullable(),
  scheduled_end_datetime: Timestamp.nullable(),
});

/** A calendar event that ends before it starts has no times. */
function repairCalendarEvent(event: z.output<typeof CalendarEvent> | null) {
  if (event === null || isInOrder(event.scheduled_start_datetime, event.scheduled_end_datetime))
    return { value: event, omitted: 0 };
  return { value: { ...event, scheduled_start_datetime: null, scheduled_end_datetime: null }, omitted: 1 };
}

const CrmId = z.string().trim().min(1, "must not be blank").max(200);
const CrmIds = z.array(CrmId).max(100).default([]);

export const recordingFields = {
  source: required(
    "upload",
    { input: Source, stored: Source, normalize: itself, examples: ["zoom", "meet"] },
    "Default: other.",
  ),
  share_state: required(
    "restricted",
    { input: ShareState, stored: ShareState, normalize: itself, examples: ["workspace", "public"] },
    "Default: the workspace's default for new recordings.",
  ),
  tags: required([], {
    input: TagsInput,
    stored: z.array(Name).max(1000),
    normalize: uniqueTags,
    repair: (tags) => {
      const value = tags.filter(isTag).slice(0, recordingLimits.tags);
      return { value, omitted: tags.length - value.length };
    },
    examples: [["größe", "b"], ["c"]],
  }),
  calendar_event: nullable({
    input: CalendarEventInput,
    stored: CalendarEvent.nullable(),
    normalize: ({ ical_uid, scheduled_start_datetime: start, scheduled_end_datetime: end }) => ({
      ical_uid,
      scheduled_start_datetime: start === null ? null : toTimestamp(start),
      scheduled_end_datetime: end === null ? null : toTimestamp(end),
    }),
    repair: repairCalendarEvent,
    isJson: true,
    examples: [
      {
        ical_uid: "u",
        scheduled_start_datetime: "2021-03-04T05:00:00Z",
        scheduled_end_datetime: "2021-03-04T06:00:00Z",
      },
      { scheduled_start_datetime: "2021-03-04T07:00:00+01:00" },
    ],
  }),
  crm: nullable({
    input: z.object({ crm_company_ids: CrmIds, crm_deal_ids: CrmIds }).meta({ id: "CrmInput" }),
    stored: z
      .object({ crm_company_ids: z.array(Name).max(1000), crm_deal_ids: z.array(Name).max(1000) })
      .nullable(),
    normalize: ({ crm_company_ids: companies, crm_deal_ids: deals }) => ({
      crm_company_ids: [...new Set(companies)],
      crm_deal_ids: [...new Set(deals)],
    }),
    isJson: true,
    examples: [{ crm_company_ids: ["c1"], crm_deal_ids: ["d1"] }, { crm_deal_ids: ["d2"] }],
  }),
};

type Fields = typeof recordingFields;
export type FieldName = keyof Fields;
export const fieldNames = Object.keys(recordingFields) as FieldName[];

/** The fields as they are stored. */
export type RecordingFields = { readonly [Name in FieldName]: z.output<Fields[Name]["stored"]> };

function shapeOf<Part extends "change" | "import" | "stored">(part: Part) {
  const shape = Object.entries(recordingFields).map(([name, field]) => [name, field[part]]);
  return Object.fromEntries(shape) as { [Name in FieldName]: Fields[Name][Part] };
}

export const changeShape = shapeOf("change");
export const importShape = shapeOf("import");
export const storedShape = shapeOf("stored");

/** The fields that the versioned API's Recording doesn't have; Get Recording View has them. */
export const managedShape = Object.fromEntries(
  Object.entries(storedShape).filter(([name]) => !(name in Recording.shape)),
) as Omit<typeof storedShape, keyof typeof Recording.shape>;

/** The given fields as they are stored. */
export function normalizeFields(
  input: {
    readonly [Name in FieldName]?: z.output<Fields[Name]["change"]>;
  },
): Partial<RecordingFields> {
  const given = fieldNames.filter((name) => input[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, recordingFields[name].normalize(input[name])]));
}

/** The fields of a new recording. @param given what is missing or null in it gets its first value. */
export function completeFields(
  given: {
    readonly [Name in FieldName]?: RecordingFields[Name] | null;
  },
): RecordingFields {
  return Object.fromEntries(
    fieldNames.map((name) => [name, given[name] ?? recordingFields[name].initial]),
  ) as RecordingFields;
}

/** Only the fields of a row. */
export function pickFields(row: RecordingFields): RecordingFields {
  return Object.fromEntries(fieldNames.map((name) => [name, row[name]])) as RecordingFields;
}

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { NotCalendarError } from "./lines.ts";
import { readCalendar } from "./read-events.ts";

const window = {
  from: Date.parse("2025-10-01T00:00:00Z"),
  to: Date.parse("2026-06-01T00:00:00Z"),
  timeZone: "UTC",
  isZoneChosen: false,
};

function read(file: string) {
  return readCalendar(
    readFileSync(new URL(`../../../../test/fixtures/calendars/${file}.ics`, import.meta.url)),
    window,
  );
}

interface Case {
  readonly file: string;
  /** Title, start and end of each event, by their starts. */
  readonly events: readonly (readonly [title: string | null, start: string, end: string])[];
  /** Entries that can't be understood. */
  readonly unread?: number;
}

const cases: readonly Case[] = [
  {
    file: "exdate",
    events: [
      ["Sync", "2026-03-02T09:00:00.000Z", "2026-03-02T10:00:00.000Z"],
      ["Sync", "2026-03-16T09:00:00.000Z", "2026-03-16T10:00:00.000Z"],
      ["Sync", "2026-03-23T09:00:00.000Z", "2026-03-23T10:00:00.000Z"],
    ],
  },
  {
    file: "rdate",
    events: [
      ["Extra", "2026-03-10T09:00:00.000Z", "2026-03-10T10:00:00.000Z"],
      ["Extra", "2026-03-12T09:00:00.000Z", "2026-03-12T10:00:00.000Z"],
      ["Extra", "2026-03-13T11:00:00.000Z", "2026-03-13T12:00:00.000Z"],
    ],
  },
  {
    file: "moved-instance",
    events: [
      ["Sync", "2026-03-02T09:00:00.000Z", "2026-03-02T10:00:00.000Z"],
      ["Sync later", "2026-03-10T13:00:00.000Z", "2026-03-10T14:00:00.000Z"],
    ],
  },
  {
    file: "canceled-instance",
    events: [
      ["Daily", "2026-03-10T09:00:00.000Z", "2026-03-10T10:00:00.000Z"],
      ["Daily", "2026-03-12T09:00:00.000Z", "2026-03-12T10:00:00.000Z"],
    ],
  },
  {
    file: "this-and-future",
    events: [
      ["Daily", "2026-03-10T09:00:00.000Z", "2026-03-10T10:00:00.000Z"],
      ["Daily", "2026-03-11T09:00:00.000Z", "2026-03-11T10:00:00.000Z"],
      ["Daily short", "2026-03-12T11:00:00.000Z", "2026-03-12T11:30:00.000Z"],
      ["Daily short", "2026-03-13T11:00:00.000Z", "2026-03-13T11:30:00.000Z"],
    ],
  },
  {
    file: "all-day",
    events: [["Fair", "2026-03-09T23:00:00.000Z", "2026-03-11T23:00:00.000Z"]],
  },
  {
    file: "floating",
    events: [["Local", "2026-03-10T13:00:00.000Z", "2026-03-10T14:00:00.000Z"]],
  },
  {
    file: "own-time-zone",
    events: [
      ["Winter", "2026-03-10T04:30:00.000Z", "2026-03-10T05:30:00.000Z"],
      ["Summer", "2026-04-01T03:30:00.000Z", "2026-04-01T04:30:00.000Z"],
    ],
  },
  {
    file: "windows-zone",
    events: [
      ["Outlook", "2026-03-10T08:00:00.000Z", "2026-03-10T09:00:00.000Z"],
      ["West", "2026-03-10T16:00:00.000Z", "2026-03-10T17:00:00.000Z"],
    ],
  },
  {
    file: "unknown-zone",
    events: [["Found", "2026-03-10T09:00:00.000Z", "2026-03-10T10:00:00.000Z"]],
    unread: 1,
  },
  {
    file: "mozilla-zone",
    events: [["Moz", "2026-03-10T08:00:00.000Z", "2026-03-10T09:00:00.000Z"]],
  },
  {
    file: "quoted-parameters",
    events: [["Quoted", "2026-03-10T09:00:00.000Z", "2026-03-10T10:00:00.000Z"]],
  },
  {
    file: "folded-in-character",
    events: [
      [
        "Größenänderung für die Büroküche überprüfen und Möbel wählen",
        "2026-03-10T09:00:00.000Z",
        "2026-03-10T10:00:00.000Z",
      ],
    ],
  },
  {
    file: "byte-order-mark",
    events: [["BOM", "2026-03-10T09:00:00.000Z", "2026-03-10T10:00:00.000Z"]],
  },
  {
    file: "carriage-returns",
    events: [["OldMac", "2026-03-10T09:00:00.000Z", "2026-03-10T10:00:00.000Z"]],
  },
  {
    file: "line-feeds",
    events: [["Unix", "2026-03-10T09:00:00.000Z", "2026-03-10T10:00:00.000Z"]],
  },
  {
    file: "missing-end",
    events: [
      ["Open", "2026-03-10T09:00:00.000Z", "2026-03-10T10:00:00.000Z"],
      ["Next", "2026-03-11T09:00:00.000Z", "2026-03-11T10:00:00.000Z"],
    ],
  },
  {
    file: "cut-off",
    events: [["Whole", "2026-03-10T09:00:00.000Z", "2026-03-10T10:00:00.000Z"]],
    unread: 1,
  },
  {
    file: "duration",
    events: [
      ["Long", "2026-03-10T09:00:00.000Z", "2026-03-10T10:30:00.000Z"],
      ["Day", "2026-03-28T11:00:00.000Z", "2026-03-29T10:00:00.000Z"],
    ],
  },
  {
    file: "end-before-start",
    events: [["Good", "2026-03-10T09:00:00.000Z", "2026-03-10T10:00:00.000Z"]],
    unread: 1,
  },
  {
    file: "no-end",
    events: [
      ["Moment", "2026-03-10T09:00:00.000Z", "2026-03-10T09:00:00.000Z"],
      ["Day", "2026-03-11T00:00:00.000Z", "2026-03-12T00:00:00.000Z"],
    ],
  },
  {
    file: "other-components",
    events: [["Event", "2026-03-10T09:00:00.000Z", "2026-03-10T10:00:00.000Z"]],
  },
  {
    file: "endless-rule",
    events: [["Birthday", "2026-03-10T08:00:00.000Z", "2026-03-10T08:15:00.000Z"]],
    unread: 1,
  },
  {
    file: "count-with-exdate",
    events: [
      ["Three", "2026-03-11T09:00:00.000Z", "2026-03-11T10:00:00.000Z"],
      ["Three", "2026-03-12T09:00:00.000Z", "2026-03-12T10:00:00.000Z"],
    ],
  },
  {
    file: "clock-forward",
    events: [
      ["Night", "2026-03-28T01:30:00.000Z", "2026-03-28T02:30:00.000Z"],
      ["Night", "2026-03-29T01:30:00.000Z", "2026-03-29T02:30:00.000Z"],
      ["Night", "2026-03-30T00:30:00.000Z", "2026-03-30T01:30:00.000Z"],
    ],
  },
  {
    file: "clock-back",
    events: [
      ["Fall", "2025-11-01T05:30:00.000Z", "2025-11-01T06:30:00.000Z"],
      ["Fall", "2025-11-02T05:30:00.000Z", "2025-11-02T06:30:00.000Z"],
      ["Fall", "2025-11-03T06:30:00.000Z", "2025-11-03T07:30:00.000Z"],
    ],
  },
  {
    file: "set-position",
    events: [
      ["Close", "2026-01-30T15:00:00.000Z", "2026-01-30T16:00:00.000Z"],
      ["Close", "2026-02-27T15:00:00.000Z", "2026-02-27T16:00:00.000Z"],
      ["Close", "2026-03-31T15:00:00.000Z", "2026-03-31T16:00:00.000Z"],
    ],
  },
  {
    file: "until-in-utc",
    events: [
      ["Until", "2026-03-27T09:00:00.000Z", "2026-03-27T10:00:00.000Z"],
      ["Until", "2026-03-28T09:00:00.000Z", "2026-03-28T10:00:00.000Z"],
      ["Until", "2026-03-29T08:00:00.000Z", "2026-03-29T09:00:00.000Z"],
      ["Until", "2026-03-30T08:00:00.000Z", "2026-03-30T09:00:00.000Z"],
    ],
  },
  {
    file: "extensions",
    events: [["X", "2026-03-10T09:00:00.000Z", "2026-03-10T10:00:00.000Z"]],
  },
  {
    file: "attendee-without-mailto",
    events: [["People", "2026-03-10T09:00:00.000Z", "2026-03-10T10:00:00.000Z"]],
  },
  {
    file: "google",
    events: [["Google", "2026-03-10T09:00:00.000Z", "2026-03-10T10:00:00.000Z"]],
  },
  {
    file: "outlook",
    events: [["Outlook", "2026-03-10T08:00:00.000Z", "2026-03-10T09:00:00.000Z"]],
  },
  {
    file: "nextcloud",
    events: [["Nextcloud", "2026-03-10T08:00:00.000Z", "2026-03-10T08:30:00.000Z"]],
  },
  {
    file: "proton",
    events: [["Proton", "2026-03-10T08:00:00.000Z", "2026-03-10T09:00:00.000Z"]],
  },
  {
    file: "duplicate-uids",
    events: [
      ["New", "2026-03-10T09:00:00.000Z", "2026-03-10T10:00:00.000Z"],
      ["First", "2026-03-12T09:00:00.000Z", "2026-03-12T10:00:00.000Z"],
      ["Second", "2026-03-13T09:00:00.000Z", "2026-03-13T10:00:00.000Z"],
    ],
  },
  {
    file: "escaped-text",
    events: [["One, two; three four \\ five", "2026-03-10T09:00:00.000Z", "2026-03-10T10:00:00.000Z"]],
  },
  {
    file: "no-title",
    events: [
      [null, "2026-03-10T09:00:00.000Z", "2026-03-10T10:00:00.000Z"],
      [null, "2026-03-11T09:00:00.000Z", "2026-03-11T10:00:00.000Z"],
    ],
  },
  {
    file: "canceled",
    events: [["Maybe", "2026-03-10T09:00:00.000Z", "2026-03-10T10:00:00.000Z"]],
  },
  {
    file: "no-uid",
    events: [
      ["Nameless", "2026-03-10T09:00:00.000Z", "2026-03-10T10:00:00.000Z"],
      ["Also", "2026-03-11T09:00:00.000Z", "2026-03-11T10:00:00.000Z"],
    ],
  },
  {
    file: "lower-case",
    events: [["small", "2026-03-10T08:00:00.000Z", "2026-03-10T09:00:00.000Z"]],
  },
  {
    file: "impossible-date",
    events: [["Real", "2026-03-10T09:00:00.000Z", "2026-03-10T10:00:00.000Z"]],
    unread: 2,
  },
  {
    file: "private",
    events: [
      [null, "2026-03-10T09:00:00.000Z", "2026-03-10T10:00:00.000Z"],
      [null, "2026-03-11T09:00:00.000Z", "2026-03-11T10:00:00.000Z"],
      [null, "2026-03-12T10:00:00.000Z", "2026-03-12T11:00:00.000Z"],
    ],
  },
];

for (const { file, events, unread = 0 } of cases)
  test(`${file}.ics gives its events, and counts what can't be understood`, () => {
    const found = read(file);
    const sorted = found.events.toSorted((a, b) => a.start - b.start);
    assert.deepEqual(
      sorted.map((one) => [one.title, new Date(one.start).toISOString(), new Date(one.end).toISOString()]),
      events,
    );
    assert.equal(found.unread, unread, JSON.stringify(found.examples));
    assert.equal(
      new Set(found.events.map(({ key }) => key)).size,
      events.length,
      "each has a key of its own",
    );
  });

test("a web page, an empty file and other text are no calendar", () => {
  assert.throws(
    () => read("web-page"),
    (error: Error) => error instanceof NotCalendarError && /web page/.test(error.message),
  );
  for (const text of ["", "Hello"])
    assert.throws(() => readCalendar(Buffer.from(text), window), NotCalendarError);
});

test("people are read with and without mailto, rooms are none, and private events have none", () => {
  const [people] = read("attendee-without-mailto").events;
  assert.deepEqual(people?.organizer, { name: "Boss", email: "boss@example.com" });
  assert.deepEqual(people?.attendees, [
    { name: null, email: "a@example.com" },
    { name: "B", email: "b@example.com" },
  ]);
  assert.equal(read("quoted-parameters").events[0]?.attendees[0]?.name, "Doe, Jane: Sales; EU");
  for (const event of read("private").events) {
    const { title, uid, organizer, attendees } = event;
    assert.deepEqual([title, uid, organizer, attendees], [null, null, null, []]);
  }
});

test("a hostile calendar is read in bounded time", () => {
  const rules = [
    "FREQ=SECONDLY",
    "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;COUNT=5",
    "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=MONTHLY;BYDAY=6MO",
    "FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=DAILY;COUNT=999999999",
    `FREQ=YEARLY;BYYEARDAY=${Array.from({ length: 366 }, (_, day) => day + 1).join(",")};BYHOUR=1,2,3,4,5,6,7,8,9;BYMINUTE=1,2,3,4,5`,
  ];
  const events = Array.from({ length: 14 }, (_, index) =>
    [
      "BEGIN:VEVENT",
      `UID:${index}`,
      "DTSTART:19000101T000000Z",
      `RRULE:${rules[index % rules.length]}`,
      "END:VEVENT",
    ].join("\n"),
  );
  const before = performance.now();
  const found = readCalendar(Buffer.from(["BEGIN:VCALENDAR", ...events, "END:VCALENDAR"].join("\n")), window);
  assert.ok(performance.now() - before < 40_000);
  assert.ok(found.unread > 0 && found.events.length <= 5000);
});

test("people of all events are limited, and titles of private series stay hidden where a line is damaged", () => {
  const event = (...lines: string[]) => ["BEGIN:VEVENT", ...lines, "END:VEVENT"];
  const people = Array.from({ length: 200 }, (_, n) => `ATTENDEE:mailto:a${n}@b.example`);
  const crowd = event("UID:crowd", "DTSTART:20251001T000000Z", "RRULE:FREQ=HOURLY;COUNT=300", ...people);
  const hidden = [
    event("UID:a", "DTSTART:20260301T100000Z", "RRULE:FREQ=DAILY;COUNT=3", "CLASS:PRIVATE", "SUMMARY:Secret"),
    event("UID:a", "DTSTART:damaged", "RECURRENCE-ID:20260302T100000Z", "SUMMARY:Secret too"),
    event("UID:b", "DTSTART:damaged", "CLASS PRIVATE", "SUMMARY:Secret as well"),
  ];
  const text = ["BEGIN:VCALENDAR", ...crowd, ...hidden.flat(), "END:VCALENDAR"].join("\r\n");
  const { events, unread, examples } = readCalendar(Buffer.from(text), window);
  assert.deepEqual([events.length, unread], [253, 52]);
  assert.doesNotMatch(JSON.stringify({ events, examples }), /Secret/);
});

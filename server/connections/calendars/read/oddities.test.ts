import assert from "node:assert/strict";
import { test } from "node:test";
import { readCalendar } from "./read-events.ts";

const bytesOf = (text: string) => Buffer.from(text);
function read(lines: readonly string[] | Uint8Array, head: readonly string[] = []) {
  const bytes =
    lines instanceof Uint8Array
      ? lines
      : bytesOf(["BEGIN:VCALENDAR", "VERSION:2.0", ...head, ...lines, "END:VCALENDAR", ""].join("\r\n"));
  return readCalendar(bytes, {
    from: Date.parse("2026-01-01T00:00:00Z"),
    to: Date.parse("2027-01-01T00:00:00Z"),
    timeZone: "Europe/Berlin",
    isZoneChosen: false,
  });
}
const event = (...lines: string[]) => ["BEGIN:VEVENT", ...lines, "END:VEVENT"];
const iso = (ms: number) => new Date(ms).toISOString().replace(":00.000Z", "Z");
const times = (c: ReturnType<typeof read>) =>
  [...c.events]
    .sort((a, b) => a.start - b.start)
    .map((e) => `${iso(e.start)}/${(e.end - e.start) / 60_000}${e.title ? ` ${e.title}` : ""}`);
/** What a calendar gives: start, minutes and title of each event, and how many entries can't be understood. */
const check = (name: string, calendar: () => ReturnType<typeof read>, expected: string[], unread = 0) =>
  test(`read as the standard means: ${name}`, () => {
    const got = calendar();
    assert.deepEqual([times(got), got.unread], [expected, unread], JSON.stringify(got.examples));
  });

check(
  "EXDATE in another zone",
  () =>
    read(
      event(
        "UID:1",
        "DTSTART;TZID=Europe/Berlin:20260302T100000",
        "DURATION:PT1H",
        "RRULE:FREQ=WEEKLY;COUNT=3",
        "EXDATE;TZID=America/New_York:20260309T050000",
      ),
    ),
  ["2026-03-02T09:00Z/60", "2026-03-16T09:00Z/60"],
);
check(
  "RDATE periods",
  () =>
    read(
      event(
        "UID:2",
        "DTSTART:20260401T100000Z",
        "DTEND:20260401T110000Z",
        "RDATE;VALUE=PERIOD:20260402T100000Z/PT2H,20260403T100000Z/20260403T103000Z",
      ),
    ),
  ["2026-04-01T10:00Z/60", "2026-04-02T10:00Z/120", "2026-04-03T10:00Z/30"],
);
check(
  "THISANDFUTURE",
  () =>
    read([
      ...event(
        "UID:3",
        "DTSTART:20260401T100000Z",
        "DURATION:PT1H",
        "SUMMARY:Old",
        "RRULE:FREQ=WEEKLY;COUNT=4",
      ),
      ...event(
        "UID:3",
        "RECURRENCE-ID;RANGE=THISANDFUTURE:20260408T100000Z",
        "DTSTART:20260408T110000Z",
        "DURATION:PT30M",
        "SUMMARY:New",
      ),
    ]),
  [
    "2026-04-01T10:00Z/60 Old",
    "2026-04-08T11:00Z/30 New",
    "2026-04-15T11:00Z/30 New",
    "2026-04-22T11:00Z/30 New",
  ],
);
check(
  "days over DST",
  () =>
    read([
      ...event("UID:4a", "DTSTART;TZID=Europe/Berlin:20260328T120000", "DURATION:P1D"),
      ...event("UID:4b", "DTSTART;TZID=Europe/Berlin:20260328T130000", "DURATION:PT24H"),
    ]),
  ["2026-03-28T11:00Z/1380", "2026-03-28T12:00Z/1440"],
);
check(
  "UNTIL date",
  () =>
    read(
      event(
        "UID:5",
        "DTSTART;TZID=Europe/Berlin:20260301T230000",
        "DURATION:PT30M",
        "RRULE:FREQ=DAILY;UNTIL=20260303",
      ),
    ),
  ["2026-03-01T22:00Z/30", "2026-03-02T22:00Z/30", "2026-03-03T22:00Z/30"],
);
check(
  "UNTIL floating local for a zoned event",
  () =>
    read(
      event(
        "UID:5b",
        "DTSTART;TZID=America/New_York:20260301T210000",
        "DURATION:PT30M",
        "RRULE:FREQ=DAILY;UNTIL=20260302T210000",
      ),
    ),
  ["2026-03-02T02:00Z/30", "2026-03-03T02:00Z/30"],
);
check(
  "X-WR-TIMEZONE only",
  () =>
    read(event("UID:6", "DTSTART:20260701T090000", "DTEND:20260701T100000"), [
      "X-WR-TIMEZONE:America/New_York",
    ]),
  ["2026-07-01T13:00Z/60"],
);
check(
  "BOM and bare CR",
  () =>
    read(
      bytesOf(
        "\ufeff" +
          [
            "BEGIN:VCALENDAR",
            ...event("UID:7", "DTSTART:20260701T090000Z", "DTEND:20260701T100000Z", "SUMMARY:Long", " er"),
            "END:VCALENDAR",
            "",
          ].join("\r"),
      ),
    ),
  ["2026-07-01T09:00Z/60 Longer"],
);
test("folded inside UTF-8", () => {
  const text = bytesOf(
    [
      "BEGIN:VCALENDAR",
      ...event("UID:8", "DTSTART:20260701T090000Z", "DURATION:PT1H", "SUMMARY:Tür 😀 ok"),
      "END:VCALENDAR",
      "",
    ].join("\r\n"),
  );
  const at = text.indexOf(bytesOf("😀")) + 2;
  const cut = Buffer.concat([text.subarray(0, at), bytesOf("\r\n "), text.subarray(at)]);
  assert.deepEqual(times(read(cut)), ["2026-07-01T09:00Z/60 Tür 😀 ok"]);
});
check(
  "zone path ids",
  () =>
    read([
      ...event(
        "UID:9",
        "DTSTART;TZID=/freeassociation.sourceforge.net/Tzfile/Europe/Berlin:20260302T100000",
        "DURATION:PT1H",
      ),
      ...event(
        "UID:9b",
        "DTSTART;TZID=/mozilla.org/20050126_1/America/Argentina/Buenos_Aires:20260303T100000",
        "DURATION:PT1H",
      ),
    ]),
  ["2026-03-02T09:00Z/60", "2026-03-03T13:00Z/60"],
);
check(
  "zone without definition is counted",
  () =>
    read(
      [
        ...event("UID:9c", "DTSTART;TZID=Foo:20260302T100000", "DURATION:PT1H", "SUMMARY:Foo"),
        ...event("UID:ok", "DTSTART:20260302T100000Z", "DURATION:PT1H"),
      ],
      [
        "BEGIN:VTIMEZONE",
        "TZID:Bar",
        "BEGIN:STANDARD",
        "DTSTART:19700101T000000",
        "TZOFFSETFROM:+0530",
        "TZOFFSETTO:+0530",
        "END:STANDARD",
        "END:VTIMEZONE",
      ],
    ),
  ["2026-03-02T10:00Z/60"],
  1,
);
check(
  "own zone",
  () =>
    read(event("UID:9d", "DTSTART;TZID=Our Zone:20260302T100000", "DURATION:PT1H"), [
      "BEGIN:VTIMEZONE",
      "TZID:Our Zone",
      "BEGIN:STANDARD",
      "DTSTART:19700101T000000",
      "TZOFFSETFROM:+0530",
      "TZOFFSETTO:+0530",
      "END:STANDARD",
      "END:VTIMEZONE",
    ]),
  ["2026-03-02T04:30Z/60"],
);
test("all-day, several days", () => {
  const c = read(event("UID:10", "DTSTART;VALUE=DATE:20260501", "DTEND;VALUE=DATE:20260504", "SUMMARY:Trip"));
  assert.deepEqual([times(c), c.events[0]?.isAllDay], [["2026-04-30T22:00Z/4320 Trip"], true]);
});
check(
  "SEQUENCE backwards",
  () =>
    read([
      ...event(
        "UID:11",
        "SEQUENCE:3",
        "DTSTAMP:20260101T000000Z",
        "LAST-MODIFIED:20260101T000000Z",
        "DTSTART:20260301T100000Z",
        "DURATION:PT1H",
        "SUMMARY:New",
      ),
      ...event(
        "UID:11",
        "SEQUENCE:1",
        "DTSTAMP:20260201T000000Z",
        "LAST-MODIFIED:20260201T000000Z",
        "DTSTART:20260302T100000Z",
        "DURATION:PT1H",
        "SUMMARY:Old",
      ),
    ]),
  ["2026-03-01T10:00Z/60 New"],
);
test("private override only", () => {
  const c = read([
    ...event(
      "UID:12",
      "DTSTART:20260401T100000Z",
      "DURATION:PT1H",
      "SUMMARY:Open",
      "RRULE:FREQ=WEEKLY;COUNT=2",
    ),
    ...event(
      "UID:12",
      "RECURRENCE-ID:20260408T100000Z",
      "DTSTART:20260408T120000Z",
      "DURATION:PT1H",
      "SUMMARY:Secret",
      "CLASS:PRIVATE",
      "ATTENDEE:mailto:a@b.example",
    ),
  ]);
  assert.deepEqual(times(c), ["2026-04-01T10:00Z/60 Open", "2026-04-08T12:00Z/60"]);
  assert.ok(!JSON.stringify(c).includes("Secret") && !JSON.stringify(c).includes("a@b"));
});
check(
  "METHOD:CANCEL",
  () => read(event("UID:13", "DTSTART:20260401T100000Z", "DURATION:PT1H"), ["METHOD:CANCEL"]),
  [],
);
test("people without mailto", () => {
  const c = read(
    event(
      "UID:14",
      "DTSTART:20260401T100000Z",
      "DURATION:PT1H",
      "ORGANIZER;CN=Boss:boss@example.com",
      "ATTENDEE;CN=Jo;EMAIL=jo@x.example:/aMTA/principal/",
      "ATTENDEE;CN=\"Doe, ^'J^'\":MAILTO:J@Example.com",
      "ATTENDEE;CUTYPE=ROOM;CN=Room 5:mailto:room5@example.com",
      "ATTENDEE;PARTSTAT=DECLINED:mailto:no@example.com",
      "ATTENDEE;CN=X:urn:uuid:1",
    ),
  );
  assert.deepEqual(c.events[0]?.organizer, { name: "Boss", email: "boss@example.com" });
  assert.deepEqual(c.events[0]?.attendees, [
    { name: "Jo", email: "jo@x.example" },
    { name: 'Doe, "J"', email: "J@Example.com" },
    { name: null, email: "no@example.com", declined: true },
    { name: "X", email: null },
  ]);
});
check(
  "end before start is counted",
  () => read([...event("UID:15", "DTSTART:20260401T100000Z", "DTEND:20260401T090000Z")]),
  [],
  1,
);
check(
  "last weekday of the month",
  () =>
    read(
      event(
        "UID:16",
        "DTSTART:20260130T100000Z",
        "DURATION:PT1H",
        "RRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;COUNT=3",
      ),
    ),
  ["2026-01-30T10:00Z/60", "2026-02-27T10:00Z/60", "2026-03-31T10:00Z/60"],
);
check(
  "times in the gap and in the repeated hour",
  () =>
    read([
      ...event("UID:17a", "DTSTART;TZID=Europe/Berlin:20260329T023000", "DURATION:PT1H"),
      ...event("UID:17b", "DTSTART;TZID=Europe/Berlin:20261025T023000", "DURATION:PT1H"),
    ]),
  ["2026-03-29T01:30Z/60", "2026-10-25T00:30Z/60"],
);
check(
  "a series through the gap",
  () =>
    read(
      event(
        "UID:18",
        "DTSTART;TZID=Europe/Berlin:20260328T023000",
        "DURATION:PT15M",
        "RRULE:FREQ=DAILY;COUNT=3",
      ),
    ),
  ["2026-03-28T01:30Z/15", "2026-03-29T01:30Z/15", "2026-03-30T00:30Z/15"],
);
check(
  "quoted parameters and lower case",
  () =>
    read([
      "begin:vevent",
      "uid:20",
      'dtstart;tzid="Europe/Berlin";x-foo="a:b;c":20260302T100000',
      "duration:pt1h",
      "summary:lower",
      "end:vevent",
    ]),
  ["2026-03-02T09:00Z/60 lower"],
);
check(
  "EXDATE as a date for a timed series",
  () =>
    read(
      event(
        "UID:22",
        "DTSTART;TZID=Europe/Berlin:20260302T100000",
        "DURATION:PT1H",
        "RRULE:FREQ=WEEKLY;COUNT=3",
        "EXDATE;VALUE=DATE:20260309",
      ),
    ),
  ["2026-03-02T09:00Z/60", "2026-03-16T09:00Z/60"],
);
check(
  "RECURRENCE-ID in UTC of a series with a zone",
  () =>
    read([
      ...event(
        "UID:23",
        "DTSTART;TZID=Europe/Berlin:20260302T100000",
        "DURATION:PT1H",
        "SUMMARY:S",
        "RRULE:FREQ=WEEKLY;COUNT=2",
      ),
      ...event(
        "UID:23",
        "RECURRENCE-ID:20260309T090000Z",
        "DTSTART:20260309T120000Z",
        "DURATION:PT1H",
        "SUMMARY:M",
      ),
    ]),
  ["2026-03-02T09:00Z/60 S", "2026-03-09T12:00Z/60 M"],
);
check(
  "RECURRENCE-ID as a date of a timed series",
  () =>
    read([
      ...event(
        "UID:23b",
        "DTSTART;TZID=Europe/Berlin:20260302T100000",
        "DURATION:PT1H",
        "SUMMARY:S",
        "RRULE:FREQ=WEEKLY;COUNT=2",
      ),
      ...event(
        "UID:23b",
        "RECURRENCE-ID;VALUE=DATE:20260309",
        "DTSTART:20260309T120000Z",
        "DURATION:PT1H",
        "SUMMARY:M",
      ),
    ]),
  ["2026-03-02T09:00Z/60 S", "2026-03-09T12:00Z/60 M"],
);
check(
  "an instance without its series",
  () =>
    read(
      event(
        "UID:26",
        "RECURRENCE-ID:20260309T090000Z",
        "DTSTART:20260309T120000Z",
        "DURATION:PT1H",
        "SUMMARY:M",
      ),
    ),
  ["2026-03-09T12:00Z/60 M"],
);
check(
  "two VCALENDARs in one file",
  () =>
    read(
      bytesOf(
        [1, 2]
          .map((n) =>
            [
              "BEGIN:VCALENDAR",
              ...event(`UID:28-${n}`, `DTSTART:2026030${n}T100000Z`, "DURATION:PT1H"),
              "END:VCALENDAR",
              "",
            ].join("\r\n"),
          )
          .join(""),
      ),
    ),
  ["2026-03-01T10:00Z/60", "2026-03-02T10:00Z/60"],
);
test("a date without VALUE=DATE is all-day", () => {
  const c = read(event("UID:31", "DTSTART:20260302", "SUMMARY:Day"));
  assert.deepEqual([times(c), c.events[0]?.isAllDay], [["2026-03-01T23:00Z/1440 Day"], true]);
});
test("NAME of RFC 7986", () =>
  assert.equal(read(event("UID:33", "DTSTART:20260302T100000Z"), ["NAME:Team"]).name, "Team"));
check(
  "an alarm's properties are not the event's",
  () =>
    read(
      event(
        "UID:36",
        "DTSTART:20260302T100000Z",
        "DURATION:PT1H",
        "SUMMARY:Real",
        "BEGIN:VALARM",
        "TRIGGER:-PT15M",
        "DURATION:PT5M",
        "SUMMARY:Alarm",
        "ATTENDEE:mailto:x@y.example",
        "END:VALARM",
      ),
    ),
  ["2026-03-02T10:00Z/60 Real"],
);
check(
  "RSCALE is counted",
  () =>
    read(
      event(
        "UID:40",
        "DTSTART;VALUE=DATE:20260302",
        "RRULE:RSCALE=HEBREW;FREQ=YEARLY;BYMONTH=5L;BYMONTHDAY=8;SKIP=FORWARD",
      ),
    ),
  [],
  1,
);
test("EXRULE is applied or counted", () => {
  const c = read(
    event(
      "UID:37",
      "DTSTART:20260302T100000Z",
      "DURATION:PT1H",
      "RRULE:FREQ=WEEKLY;COUNT=4",
      "EXRULE:FREQ=WEEKLY;INTERVAL=2",
    ),
  );
  assert.ok(c.unread === 1 || c.events.length === 2, JSON.stringify(times(c)));
});
check(
  "a cancelled instance, and EXDATE of the first",
  () =>
    read([
      ...event(
        "UID:38",
        "DTSTART:20260302T100000Z",
        "DURATION:PT1H",
        "RRULE:FREQ=WEEKLY;COUNT=3",
        "EXDATE:20260302T100000Z",
      ),
      ...event("UID:38", "RECURRENCE-ID:20260309T100000Z", "DTSTART:20260309T100000Z", "STATUS:CANCELLED"),
    ]),
  ["2026-03-16T10:00Z/60"],
);
check(
  "METHOD:CANCEL of one of two VCALENDARs",
  () =>
    read(
      bytesOf(
        [
          "BEGIN:VCALENDAR",
          "METHOD:CANCEL",
          ...event("UID:m1", "DTSTART:20260301T100000Z"),
          "END:VCALENDAR",
          "BEGIN:VCALENDAR",
          ...event("UID:m2", "DTSTART:20260302T100000Z"),
          "END:VCALENDAR",
          "",
        ].join("\r\n"),
      ),
    ),
  ["2026-03-02T10:00Z/0"],
);
check(
  "a file that is cut within an event",
  () =>
    read(
      bytesOf(
        [
          "BEGIN:VCALENDAR",
          ...event("UID:a", "DTSTART:20260302T100000Z", "DURATION:PT1H"),
          "BEGIN:VEVENT",
          "UID:b",
          "DTSTART:20260303T1000",
        ].join("\r\n"),
      ),
    ),
  ["2026-03-02T10:00Z/60"],
  1,
);
check(
  "escapes",
  () => read(event("UID:19", "DTSTART:20260302T100000Z", "DURATION:PT1H", "SUMMARY:A\\, B\\; C\\\\n")),
  ["2026-03-02T10:00Z/60 A, B; C\\n"],
);
check(
  "THISANDFUTURE with a later single change",
  () =>
    read([
      ...event(
        "UID:41",
        "DTSTART;TZID=Europe/Berlin:20260302T100000",
        "DURATION:PT1H",
        "SUMMARY:Old",
        "RRULE:FREQ=WEEKLY;COUNT=5",
      ),
      ...event(
        "UID:41",
        "RECURRENCE-ID;TZID=Europe/Berlin;RANGE=THISANDFUTURE:20260316T100000",
        "DTSTART;TZID=Europe/Berlin:20260316T140000",
        "DURATION:PT1H",
        "SUMMARY:New",
      ),
      ...event(
        "UID:41",
        "RECURRENCE-ID;TZID=Europe/Berlin:20260330T100000",
        "DTSTART;TZID=Europe/Berlin:20260331T080000",
        "DURATION:PT1H",
        "SUMMARY:Single",
      ),
    ]),
  [
    "2026-03-02T09:00Z/60 Old",
    "2026-03-09T09:00Z/60 Old",
    "2026-03-16T13:00Z/60 New",
    "2026-03-23T13:00Z/60 New",
    "2026-03-31T06:00Z/60 Single",
  ],
);
check(
  "lower-case values",
  () =>
    read(
      event(
        "UID:50",
        "dtstart;tzid=Europe/Berlin:20260302t100000",
        "dtend:20260302t100000z",
        "rrule:freq=weekly;count=2",
      ),
    ),
  ["2026-03-02T09:00Z/60", "2026-03-09T09:00Z/60"],
);
check(
  "zone names of Windows, with both a zone and Z, and one that is only shown to people",
  () =>
    read([
      ...event("UID:51", "DTSTART;TZID=W. Europe Standard Time:20260302T100000", "DURATION:PT1H"),
      ...event(
        "UID:52",
        'DTSTART;TZID="(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna":20260303T100000',
        "DURATION:PT1H",
      ),
      ...event("UID:53", "DTSTART;TZID=Europe/Berlin:20260304T100000Z", "DURATION:PT1H"),
      ...event("UID:54", "DTSTART;TZID=GMT:20260305T100000", "DURATION:PT1H"),
    ]),
  ["2026-03-02T09:00Z/60", "2026-03-04T10:00Z/60", "2026-03-05T10:00Z/60"],
  1,
);
check(
  "VALUE=DATE-TIME, VALUE of lower case, white space",
  () =>
    read(
      event(
        "UID:55",
        "DTSTART;VALUE=date-time;TZID=Europe/Berlin:20260302T100000",
        "DTEND;VALUE=DATE-TIME:20260302T100000Z ",
        "SUMMARY: Spaces ",
      ),
    ),
  ["2026-03-02T09:00Z/60 Spaces"],
);
check(
  "several RRULEs, and RDATE that repeats one of their dates",
  () =>
    read(
      event(
        "UID:56",
        "DTSTART:20260302T100000Z",
        "DURATION:PT1H",
        "RRULE:FREQ=WEEKLY;COUNT=2",
        "RRULE:FREQ=MONTHLY;COUNT=2",
        "RDATE:20260309T100000Z,20260310T100000Z",
      ),
    ),
  ["2026-03-02T10:00Z/60", "2026-03-09T10:00Z/60", "2026-03-10T10:00Z/60", "2026-04-02T10:00Z/60"],
);
check(
  "WKST with an interval",
  () =>
    read(
      event(
        "UID:57",
        "DTSTART:20260104T100000Z",
        "DURATION:PT1H",
        "RRULE:FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU",
      ),
    ),
  ["2026-01-04T10:00Z/60", "2026-01-06T10:00Z/60", "2026-01-18T10:00Z/60", "2026-01-20T10:00Z/60"],
);
check(
  "31st of each month",
  () => read(event("UID:58", "DTSTART:20260131T100000Z", "DURATION:PT1H", "RRULE:FREQ=MONTHLY;COUNT=3")),
  ["2026-01-31T10:00Z/60", "2026-03-31T10:00Z/60", "2026-05-31T10:00Z/60"],
);
check(
  "a series far before the window and without an end",
  () =>
    read(event("UID:59", "DTSTART;TZID=Europe/Berlin:19900101T100000", "DURATION:PT1H", "RRULE:FREQ=YEARLY")),
  ["2026-01-01T09:00Z/60"],
);
check(
  "an event across the start of the window",
  () => read(event("UID:60", "DTSTART:20251231T230000Z", "DTEND:20260101T010000Z")),
  ["2025-12-31T23:00Z/120"],
);
check(
  "a timed DTSTART with a date as DTEND",
  () => read(event("UID:61", "DTSTART:20260302T100000Z", "DTEND;VALUE=DATE:20260303")),
  ["2026-03-02T10:00Z/780"],
);
check(
  "tabs in folds, empty lines and lines without a colon",
  () =>
    read(
      bytesOf(
        [
          "BEGIN:VCALENDAR",
          "",
          ...event(
            "UID:62",
            "DTSTART:2026030",
            "\t2T100000Z",
            "",
            "garbage",
            "DURATION:PT1H",
            "SUMMARY:Fold",
            "\ted",
          ),
          "END:VCALENDAR",
          "",
        ].join("\n"),
      ),
    ),
  ["2026-03-02T10:00Z/60 Folded"],
);
check(
  "a rule that never matches and one with an unknown part",
  () =>
    read([
      ...event(
        "UID:63",
        "DTSTART:20260302T100000Z",
        "DURATION:PT1H",
        "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
      ),
      ...event("UID:64", "DTSTART:20260303T100000Z", "DURATION:PT1H", "RRULE:FREQ=DAILY;COUNT=2;X-FOO=BAR"),
    ]),
  ["2026-03-02T10:00Z/60", "2026-03-03T10:00Z/60", "2026-03-04T10:00Z/60"],
);
check(
  "UNTIL in UTC of a series with a zone, at its last instance in another offset",
  () =>
    read(
      event(
        "UID:65",
        "DTSTART;TZID=Europe/Berlin:20260327T100000",
        "DURATION:PT1H",
        "RRULE:FREQ=DAILY;UNTIL=20260330T080000Z",
      ),
    ),
  ["2026-03-27T09:00Z/60", "2026-03-28T09:00Z/60", "2026-03-29T08:00Z/60", "2026-03-30T08:00Z/60"],
);
check(
  "a change that moves an instance to where another one is",
  () =>
    read([
      ...event(
        "UID:66",
        "DTSTART:20260302T100000Z",
        "DURATION:PT1H",
        "SUMMARY:S",
        "RRULE:FREQ=DAILY;COUNT=2",
      ),
      ...event(
        "UID:66",
        "RECURRENCE-ID:20260302T100000Z",
        "DTSTART:20260303T100000Z",
        "DURATION:PT1H",
        "SUMMARY:M",
      ),
    ]),
  ["2026-03-03T10:00Z/60 S", "2026-03-03T10:00Z/60 M"],
);
check(
  "29 February each year",
  () => read(event("UID:70", "DTSTART:20240229T100000Z", "DURATION:PT1H", "RRULE:FREQ=YEARLY")),
  [],
);
check(
  "the 30th each quarter",
  () =>
    read(
      event(
        "UID:71",
        "DTSTART:20251130T100000Z",
        "DURATION:PT1H",
        "RRULE:FREQ=MONTHLY;INTERVAL=3;UNTIL=20261201",
      ),
    ),
  ["2026-05-30T10:00Z/60", "2026-08-30T10:00Z/60", "2026-11-30T10:00Z/60"],
);
check(
  "31st yearly in some months",
  () => read(event("UID:72", "DTSTART:20260131T100000Z", "DURATION:PT1H", "RRULE:FREQ=YEARLY;BYMONTH=1,2,3")),
  ["2026-01-31T10:00Z/60", "2026-03-31T10:00Z/60"],
);

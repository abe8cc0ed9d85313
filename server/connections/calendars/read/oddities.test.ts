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
test("a line that is folded within a character of UTF-8 is read", () => {
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
test("an all-day event of several days begins and ends at midnight", () => {
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
test("only the private instance of a public series hides its title", () => {
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
test("organizer and attendees are read with and without mailto:", () => {
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
test("the name of a calendar is read from NAME (RFC 7986)", () =>
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
  "zone names of Windows, one that is only shown to people, and both a zone and Z",
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
  ["2026-03-02T09:00Z/60", "2026-03-03T09:00Z/60", "2026-03-04T10:00Z/60", "2026-03-05T10:00Z/60"],
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
check(
  "a rule that ends with a semicolon, and one with parameters",
  () =>
    read([
      ...event(
        "UID:80",
        "DTSTART:20260302T100000Z",
        "DURATION:PT1H",
        "RRULE:FREQ=WEEKLY;INTERVAL=1;BYDAY=MO;COUNT=2;",
      ),
      ...event(
        "UID:81",
        "DTSTART:20260303T100000Z",
        "DURATION:PT1H",
        "RRULE;X-BUSYMAC-REGENERATE=TRASH:FREQ=WEEKLY;COUNT=2",
      ),
    ]),
  ["2026-03-02T10:00Z/60", "2026-03-03T10:00Z/60", "2026-03-09T10:00Z/60", "2026-03-10T10:00Z/60"],
);
check(
  "EXDATE and RDATE without a value",
  () =>
    read(
      event(
        "UID:82",
        "DTSTART;TZID=Europe/Berlin:20260302T100000",
        "DURATION:PT1H",
        "RRULE:FREQ=WEEKLY;COUNT=2",
        "EXDATE;TZID=Europe/Berlin:",
        "RDATE:",
      ),
    ),
  ["2026-03-02T09:00Z/60", "2026-03-09T09:00Z/60"],
);
check(
  "EXDATE, DTEND and RECURRENCE-ID without the zone that DTSTART names",
  () =>
    read([
      ...event(
        "UID:83",
        "DTSTART;TZID=America/New_York:20260302T100000",
        "DTEND:20260302T110000",
        "SUMMARY:S",
        "RRULE:FREQ=WEEKLY;COUNT=3",
        "EXDATE:20260309T100000",
      ),
      ...event(
        "UID:83",
        "RECURRENCE-ID:20260316T100000",
        "DTSTART;TZID=America/New_York:20260316T120000",
        "DURATION:PT1H",
        "SUMMARY:M",
      ),
    ]),
  ["2026-03-02T15:00Z/60 S", "2026-03-16T16:00Z/60 M"],
);
check(
  "EXDATE as midnight in UTC of a series of days",
  () =>
    read(
      event(
        "UID:84",
        "DTSTART;VALUE=DATE:20260302",
        "RRULE:FREQ=DAILY;COUNT=3",
        "EXDATE:20260303T000000Z",
        "EXDATE;TZID=Europe/Berlin:20260304T000000",
      ),
    ),
  ["2026-03-01T23:00Z/1440"],
);
check(
  "STATUS:CANCELED, and an instance that is canceled without its start",
  () =>
    read([
      ...event("UID:85", "DTSTART:20260302T100000Z", "STATUS:CANCELED"),
      ...event("UID:86", "DTSTART:20260303T100000Z", "DURATION:PT1H", "RRULE:FREQ=DAILY;COUNT=2"),
      ...event("UID:86", "RECURRENCE-ID:20260304T100000Z", "STATUS:CANCELLED"),
    ]),
  ["2026-03-03T10:00Z/60"],
);
check(
  "a series that is canceled takes its earlier changes with it",
  () =>
    read([
      ...event(
        "UID:87",
        "SEQUENCE:4",
        "STATUS:CANCELLED",
        "DTSTART:20260302T100000Z",
        "DURATION:PT1H",
        "RRULE:FREQ=DAILY;COUNT=3",
      ),
      ...event(
        "UID:87",
        "SEQUENCE:2",
        "RECURRENCE-ID:20260303T100000Z",
        "DTSTART:20260303T120000Z",
        "DURATION:PT1H",
      ),
    ]),
  [],
);
check(
  "zones by the names that Windows shows, without a definition",
  () =>
    read([
      ...event(
        "UID:88",
        'DTSTART;TZID="(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna":20260703T100000',
      ),
      ...event("UID:89", "DTSTART;TZID=(UTC-05:00) Eastern Time (US & Canada):20260704T100000"),
      ...event(
        "UID:90",
        "DTSTART;TZID=(GMT+05:30) Chennai\\, Kolkata\\, Mumbai\\, New Delhi:20260705T100000",
      ),
      ...event("UID:91", "DTSTART;TZID=(UTC+03:00) Berlin:20260706T100000"),
    ]),
  ["2026-07-03T08:00Z/0", "2026-07-04T14:00Z/0", "2026-07-05T04:30Z/0"],
  1,
);
check(
  "a zone of Outlook for UTC, one that is a fixed offset, and a definition without rules that names its place",
  () =>
    read(
      [
        ...event("UID:92", 'DTSTART;TZID="tzone://Microsoft/Utc":20260302T100000'),
        ...event("UID:93", "DTSTART;TZID=GMT+0200:20260303T100000"),
        ...event("UID:94", "DTSTART;TZID=UTC-03:30:20260304T100000"),
        ...event("UID:95", "DTSTART;TZID=Customized Time Zone:20260705T100000"),
      ],
      ["BEGIN:VTIMEZONE", "TZID:Customized Time Zone", "X-LIC-LOCATION:Europe/Berlin", "END:VTIMEZONE"],
    ),
  ["2026-03-02T10:00Z/0", "2026-03-03T08:00Z/0", "2026-03-04T13:30Z/0", "2026-07-05T08:00Z/0"],
);
test("one line in another encoding leaves the others as they are", () => {
  const text = (summary: string, uid: string) =>
    event(`UID:${uid}`, "DTSTART:20260302T100000Z", `SUMMARY:${summary}`).join("\r\n");
  const bytes = Buffer.concat([
    Buffer.from("BEGIN:VCALENDAR\r\n"),
    Buffer.from(text("Tür", "96"), "latin1"),
    Buffer.from(`\r\n${text("Größe 😀", "97")}\r\nEND:VCALENDAR\r\n`),
  ]);
  assert.deepEqual(times(read(bytes)), ["2026-03-02T10:00Z/0 Tür", "2026-03-02T10:00Z/0 Größe 😀"]);
});
check(
  "times as ISO 8601 writes them, and without seconds",
  () =>
    read([
      ...event("UID:98", "DTSTART:2026-03-02T10:00:00Z", "DTEND:2026-03-02T11:00:00Z"),
      ...event("UID:99", "DTSTART:20260303T1000Z", "DTEND:20260303T1100Z"),
    ]),
  ["2026-03-02T10:00Z/60", "2026-03-03T10:00Z/60"],
);
test("emails are read from URLs with escapes, and groups and people without an email stay", () => {
  const c = read(
    event(
      "UID:100",
      "DTSTART:20260302T100000Z",
      'ORGANIZER;CN=Jo;SENT-BY="mailto:boss@example.com":invalid:nomail',
      'ATTENDEE;CUTYPE=GROUP;CN=Sales;MEMBER="mailto:all@example.com":mailto:sales@example.com',
      "ATTENDEE:mailto:jo%2Bparley@example.com",
      'ATTENDEE;CN="A "quoted" name":mailto:damaged@example.com',
      "ATTENDEE;CN=No email;RSVP=TRUE:MAILTO:",
    ),
  );
  assert.deepEqual(c.events[0]?.organizer, { name: "Jo", email: null });
  assert.deepEqual(
    c.events[0]?.attendees.map(({ name, email }) => email ?? name),
    ["sales@example.com", "jo+parley@example.com", "damaged@example.com", "No email"],
  );
});
check(
  "COUNT with EXDATE and RDATE; UNTIL before the start, as of a series that was ended at once; COUNT with UNTIL",
  () =>
    read([
      ...event(
        "UID:101",
        "DTSTART:20260302T100000Z",
        "RRULE:FREQ=DAILY;COUNT=3",
        "EXDATE:20260303T100000Z",
        "RDATE:20260310T100000Z",
      ),
      ...event("UID:102", "DTSTART:20260320T100000Z", "RRULE:FREQ=DAILY;UNTIL=20260301T000000Z"),
      ...event("UID:103", "DTSTART:20260325T100000Z", "RRULE:FREQ=DAILY;COUNT=5;UNTIL=20260326T100000Z"),
    ]),
  [
    "2026-03-02T10:00Z/0",
    "2026-03-04T10:00Z/0",
    "2026-03-10T10:00Z/0",
    "2026-03-25T10:00Z/0",
    "2026-03-26T10:00Z/0",
  ],
);
check(
  "a very long line, an attachment within, and tasks and journals between",
  () =>
    read([
      ...["BEGIN:VTODO", "UID:t", "DTSTART:20260302T100000Z", "SUMMARY:Task", "END:VTODO"],
      ...event(
        "UID:104",
        `DESCRIPTION:${"x".repeat(3_000_000)}`,
        `ATTACH;ENCODING=BASE64;VALUE=BINARY:${"QUJD".repeat(500_000)}`,
        "DTSTART:20260302T100000Z",
        "TRANSP:TRANSPARENT",
        "SUMMARY:Long",
      ),
      ...["BEGIN:VJOURNAL", "UID:j", "DTSTART:20260303T100000Z", "END:VJOURNAL"],
    ]),
  ["2026-03-02T10:00Z/0 Long"],
);
test("confidential events, in any spelling, are times alone", () => {
  const c = read([
    ...event("UID:105", "DTSTART:20260302T100000Z", "CLASS:CONFIDENTIAL", "SUMMARY:Secret 1"),
    ...event("UID:106", "DTSTART:20260303T100000Z", "class;x-a=b:Private", "SUMMARY:Secret 2"),
  ]);
  assert.deepEqual(
    [times(c), JSON.stringify(c).includes("ecret")],
    [["2026-03-02T10:00Z/0", "2026-03-03T10:00Z/0"], false],
  );
});
check(
  "weeks by number, the last day of the month, and hours of a rule over a change of the clock",
  () =>
    read([
      ...event(
        "UID:108",
        "DTSTART;TZID=Europe/Berlin:20260105T100000",
        "RRULE:FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO",
      ),
      ...event("UID:109", "DTSTART:20260131T100000Z", "RRULE:FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=2"),
      ...event(
        "UID:110",
        "DTSTART;TZID=Europe/Berlin:20261024T090000",
        "RRULE:FREQ=DAILY;BYHOUR=9,15;COUNT=4",
      ),
    ]),
  [
    "2026-01-05T09:00Z/0",
    "2026-01-31T10:00Z/0",
    "2026-02-28T10:00Z/0",
    "2026-05-11T08:00Z/0",
    "2026-10-24T07:00Z/0",
    "2026-10-24T13:00Z/0",
    "2026-10-25T08:00Z/0",
    "2026-10-25T14:00Z/0",
  ],
);

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { timeInName } from "./time-in-name.ts";
import { dateOrderOf, readWrittenTime } from "./written-time.ts";

const timeZone = "Europe/Berlin";
const read = (text: string, order?: "day-first" | "month-first") => {
  const found = readWrittenTime(text, { timeZone, order });
  return "at" in found ? new Date(found.at).toISOString() : found.problem;
};

test("times of lists are read in the forms that programs write, with and without a zone", () => {
  const utc = "2026-03-04T09:15:22.000Z";
  for (const text of [
    "2026-03-04T09:15:22Z",
    "2026-03-04 10:15:22",
    "2026-3-4 10:15:22",
    "2026/03/04 10:15:22",
    "20260304T101522",
    "2026-03-04T04:15:22-05:00",
    "2026-03-04 14:45:22 +0530",
    "2026-03-04 10:15:22 CET",
    " 2026-03-04\u00a010:15:22.000 ",
    "04.03.2026 10:15:22",
    "4.3.2026, 10:15:22",
    "4 March 2026 10:15:22",
    "4-Mar-2026 10:15:22",
    "Mar 4, 2026, 10:15:22 AM",
    "March 4, 2026 at 10:15:22 am",
    "Wed, 04 Mar 2026 09:15:22 GMT",
    "Wed, 04 Mar 2026 04:15:22 -0500",
    "Wed Mar 04 2026 10:15:22 GMT+0100 (Central European Standard Time)",
    "1772615722",
    "1772615722.0",
    "1772615722000",
  ])
    assert.equal(read(text), utc, text);
  assert.equal(read("2026-03-04"), "2026-03-03T23:00:00.000Z");
  assert.equal(read("3/4/2026 9:15:22 PM", "month-first"), "2026-03-04T20:15:22.000Z");
  assert.equal(read("2026-03-04 10:15:22.250"), "2026-03-04T09:15:22.250Z");
});

test("a text that is no whole date and time is refused with the form that is needed", () => {
  for (const text of [
    "",
    "soon",
    "46085.42",
    "2026-02-31 10:15",
    "0026-03-04 10:15",
    "2026-03-04 25:15",
    "2026-03-04 10:15 IST",
    "2026-03-04 10:15 Room 4",
    "2026-03-04 13:15 AM",
    "2026-03-0410:15",
    "31/04/2026",
    "04/03/26 10:15",
    "4 Mrz 2026 10:15",
    "x".repeat(5000),
  ])
    assert.match(read(text), /write it as 2026-10-05T14:30:00|more than 100 characters/, text.slice(0, 50));
});

test("the order of day and month is read from the other dates of a list, and never guessed", () => {
  assert.equal(dateOrderOf(["03/04/2026 10:15", "15/03/2026 10:15"]), "day-first");
  assert.equal(dateOrderOf(["3-4-2026", "3-15-2026", "2026-01-31"]), "month-first");
  assert.equal(dateOrderOf(["03/04/2026", "12/12/2026"]), null);
  assert.equal(dateOrderOf(["15/03/2026", "03/15/2026"]), null);
  assert.equal(dateOrderOf(["13/13/2026", "03/04/2026"]), null);
  assert.equal(read("03/04/2026 10:15", "day-first"), "2026-04-03T08:15:00.000Z");
  assert.equal(read("03/04/2026 10:15", "month-first"), "2026-03-04T09:15:00.000Z");
  assert.match(read("03/04/2026 10:15"), /2026-04-03 or 2026-03-04, .*write it as 2026-04-03T10:15:00/);
  // One that has only one meaning is read in any list.
  assert.equal(read("15/03/2026 10:15", "month-first"), "2026-03-15T09:15:00.000Z");
  assert.equal(read("05/05/2026 10:15"), "2026-05-05T08:15:00.000Z");
});

test("any time comes back from a list and from a name, in every zone", () => {
  const offset = fc.constantFrom(["Z", 0], ["+01:00", 1], ["-05:00", -5], ["+05:30", 5.5], ["-0330", -3.5]);
  const time = fc.date({ min: new Date("2000-01-02"), max: new Date("2099-12-30"), noInvalidDate: true });
  fc.assert(
    fc.property(time, offset, fc.constantFrom(":", "-", ".", "_", ""), (date, [zone, hours], colon) => {
      const at = Math.floor(date.getTime() / 1000) * 1000;
      const local = new Date(at + Number(hours) * 3_600_000).toISOString().slice(0, 19);
      const written = `${local.slice(0, 11)}${local.slice(11).replaceAll(":", colon)}${zone}`;
      assert.deepEqual(readWrittenTime(written, { timeZone }), { at, isLocal: false });
      assert.equal(timeInName(`room ${written}.mp4`, timeZone), at);
    }),
    { numRuns: 200 },
  );
});

test("a time behind a comma or the word of another language is found in a name", () => {
  for (const name of [
    "Screen Recording 2026-03-04 at 10.15.22.mov",
    "Bildschirmaufnahme 2026-03-04 um 10.15.22.mov",
    "Enregistrement 2026-03-04 à 10.15.22.mov",
    "Enregistrement 2026-03-04 à 10.15.22.mov".normalize("NFD"),
    "Grabación 2026-03-04 a la(s) 10.15.22.mov",
    "Registrazione 2026-03-04 alle 10.15.22.mov",
    "Call, 2026-03-04, 10.15.22.mp3",
  ])
    assert.equal(timeInName(name, timeZone), Date.parse("2026-03-04T09:15:22Z"), name);
  assert.equal(timeInName("Budget 2026-03-04 and 10.15.22.mp3", timeZone), undefined);
});

test("any text takes linear time and never throws", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), (text) => {
      readWrittenTime(text, { timeZone });
      timeInName(text, timeZone);
    }),
    { numRuns: 200 },
  );
  for (const text of ["2026-03-04 ".repeat(100_000), " ".repeat(1_000_000), "1/".repeat(500_000)]) {
    const began = performance.now();
    readWrittenTime(text);
    timeInName(text);
    assert.ok(performance.now() - began < 3000);
  }
});

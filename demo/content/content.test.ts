import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isTag } from "../../contract/recordings/tag.ts";
import { startOf } from "../import/import-meeting.ts";
import { drawableText, undrawableLetters } from "../media/font.ts";
import { guestName } from "../media/scene.ts";
import { demoMeetings } from "./meetings/index.ts";
import { pointsOf } from "./points.ts";
import { demoStories } from "./stories.ts";
import { findLine, PAUSE, slideTimes, timed } from "./timeline.ts";
import type { DemoMeeting } from "./types.ts";
import { demoWorkspace } from "./workspace.ts";

const INTERNAL_TYPES = ["Team Meeting", "One-on-One", "Stand-up", "Planning", "Retrospective", "All-Hands"];
const EXTERNAL_TYPES = [
  "Customer Meeting",
  "Sales Call",
  "Product Demo",
  "Support Call",
  "Interview",
  "Partner Meeting",
];
const employees = new Map(demoWorkspace.users.map((user) => [user.email, user]));

function isCompanyEmail(email: string): boolean {
  return demoWorkspace.emailDomains.some((domain) => email.endsWith(`@${domain}`));
}

function speakers(meeting: DemoMeeting): Set<string> {
  return new Set(meeting.segments.map((segment) => segment.key));
}

function minutes(meeting: DemoMeeting): number {
  return (meeting.segments.at(-1)?.end ?? 0) / 60_000;
}

function anonymous(meeting: DemoMeeting): string[] {
  const known = new Set(meeting.participants.map((participant) => participant.key));
  return [...speakers(meeting)].filter((key) => !known.has(key));
}

describe("the demo workspace", () => {
  it("has twelve employees in four teams, with an administrator", () => {
    assert.equal(demoWorkspace.users.length, 12);
    assert.equal(employees.size, 12);
    assert.equal(new Set(demoWorkspace.teams).size, 4);
    assert.ok(demoWorkspace.users.some((user) => user.role === "admin"));
    for (const user of demoWorkspace.users) {
      assert.ok(isCompanyEmail(user.email), user.email);
      assert.ok(user.teams.length > 0, user.name);
      for (const team of user.teams) assert.ok(demoWorkspace.teams.includes(team), team);
    }
  });

  it("uses reserved domains only", () => {
    for (const domain of demoWorkspace.emailDomains) assert.match(domain, /^[a-z0-9-]+\.example$/);
  });
});

describe("the demo meetings", () => {
  it("have summaries whose points the words of the meeting prove, each", () => {
    const summaries = demoMeetings.filter(({ summary }) => summary !== undefined);
    assert.ok(summaries.length >= 4);
    for (const meeting of summaries)
      assert.deepEqual(
        pointsOf(meeting).map(({ text }) => text),
        meeting.summary?.map(({ text }) => text),
        meeting.title,
      );
  });

  it("are on weekdays, in the past and in order, whatever day the demo is created", () => {
    for (let day = 0; day < 14; day++) {
      const now = Date.UTC(2026, 10, 2 + day, 0, 5);
      const starts = demoMeetings.map((meeting) => startOf(meeting, now));
      for (const start of starts) {
        assert.ok(start.getUTCDay() >= 1 && start.getUTCDay() <= 5, start.toISOString());
        assert.ok(start.getTime() < now);
      }
      assert.deepEqual(
        starts,
        starts.toSorted((a, b) => a.getTime() - b.getTime()),
      );
    }
  });

  it("are at least twelve with unique titles, oldest first", () => {
    assert.ok(demoMeetings.length >= 12);
    assert.equal(new Set(demoMeetings.map((meeting) => meeting.title)).size, demoMeetings.length);
    const order = demoMeetings.map((meeting) => [-meeting.daysAgo, meeting.startsAt] as const);
    assert.deepEqual(
      order,
      order.toSorted((a, b) => a[0] - b[0] || a[1].localeCompare(b[1])),
    );
  });

  it("cover sharing states, languages, anonymous and silent participants", () => {
    assert.ok(new Set(demoMeetings.map((meeting) => meeting.meetingType)).size >= 9);
    assert.equal(demoMeetings.filter((meeting) => meeting.shareState === "public").length, 1);
    assert.ok(demoMeetings.some((meeting) => meeting.shareState === "workspace"));
    assert.ok(demoMeetings.some((meeting) => meeting.shareState === "restricted"));
    assert.ok(demoMeetings.some((meeting) => (meeting.sharedWithTeams ?? []).length > 0));
    assert.ok(demoMeetings.some((meeting) => (meeting.sharedWithUsers ?? []).length > 0));
    for (const language of ["en", "de", "fr"]) {
      assert.ok(
        demoMeetings.some((meeting) => meeting.language === language),
        language,
      );
    }
    assert.ok(demoMeetings.some((meeting) => anonymous(meeting).length > 0));
    assert.ok(demoMeetings.some((meeting) => meeting.participants.some((p) => p.phone && !p.email)));
    assert.ok(
      demoMeetings.some((meeting) => meeting.participants.some((p) => !speakers(meeting).has(p.key))),
      "a silent participant",
    );
    assert.ok(demoMeetings.some((meeting) => meeting.tags.some((tag) => /[^\p{ASCII}]/u.test(tag))));
  });

  it("are mostly video, some audio and some transcript only", () => {
    const kinds = Map.groupBy(demoMeetings, ({ media }) => media);
    assert.ok((kinds.get("video")?.length ?? 0) >= 8);
    assert.ok((kinds.get("audio")?.length ?? 0) >= 1);
    assert.ok((kinds.get(undefined)?.length ?? 0) >= 1);
  });

  it("have highlights with unique texts, and stories that use them", () => {
    const texts = demoMeetings.flatMap(({ highlights = [] }) => highlights.map(({ text }) => text));
    assert.equal(new Set(texts).size, texts.length);
    assert.ok(demoStories.length > 0);
    for (const { by, highlights } of demoStories) {
      assert.ok(employees.has(by), by);
      for (const text of highlights) assert.ok(texts.includes(text), text);
    }
  });

  for (const meeting of demoMeetings) {
    describe(meeting.title, () => {
      it("belongs to users and teams of the workspace", () => {
        assert.ok(meeting.recorders.length > 0);
        for (const email of [...meeting.recorders, ...(meeting.sharedWithUsers ?? [])]) {
          assert.ok(employees.has(email), email);
        }
        for (const email of meeting.recorders) {
          assert.ok(
            meeting.participants.some((participant) => participant.email === email),
            email,
          );
        }
        const { team, sharedWithTeams = [] } = meeting;
        for (const name of team === undefined ? sharedWithTeams : [team, ...sharedWithTeams]) {
          assert.ok(demoWorkspace.teams.includes(name), name);
        }
      });

      it("gives its participants the names of the workspace's users", () => {
        const keys = meeting.participants.map((participant) => participant.key);
        assert.equal(new Set(keys).size, keys.length);
        for (const { name, email, phone } of meeting.participants) {
          assert.ok(email !== undefined || phone !== undefined, name);
          if (phone !== undefined) assert.match(phone, /^\+447700900\d{3}$/, "reserved for fiction");
          if (email === undefined) continue;
          assert.match(email, /^[a-z0-9.-]+@[a-z0-9-]+\.example$/);
          if (isCompanyEmail(email)) assert.equal(employees.get(email)?.name, name);
        }
      });

      it("has a meeting type that matches its participants", () => {
        const external = meeting.participants.some(({ email }) => !email || !isCompanyEmail(email));
        assert.ok((external ? EXTERNAL_TYPES : INTERNAL_TYPES).includes(meeting.meetingType));
      });

      it("has two to eight speakers and lasts six to forty minutes, at most twenty with media", () => {
        const count = speakers(meeting).size;
        assert.ok(count >= 2 && count <= 8, `${count} speakers`);
        assert.ok(
          minutes(meeting) >= 6 && minutes(meeting) <= (meeting.media === undefined ? 40 : 20),
          `${minutes(meeting)} minutes`,
        );
        assert.ok(meeting.segments.length >= 45, `${meeting.segments.length} lines`);
        assert.match(meeting.startsAt, /^([01]\d|2[0-3]):[0-5]\d$/);
        assert.ok(Number.isInteger(meeting.daysAgo) && meeting.daysAgo > 0);
      });

      it("has sorted, non-overlapping, non-empty segments", () => {
        let previousEnd = 0;
        for (const { start, end, text } of meeting.segments) {
          assert.ok(Number.isInteger(start) && Number.isInteger(end), text);
          assert.ok(start >= previousEnd && end > start, text);
          assert.equal(text, text.trim());
          assert.notEqual(text, "");
          previousEnd = end;
        }
      });

      it("has exactly one line for each line named by slides, highlights and action items", () => {
        const named = [
          ...(meeting.slides ?? []).flatMap(({ from, until }) => [from, until]),
          ...(meeting.highlights ?? []).map(({ from }) => from),
          ...(meeting.actionItems ?? []).map(({ line }) => line),
        ];
        for (const line of named) assert.doesNotThrow(() => findLine(meeting.segments, line));
        const keys = meeting.participants.map(({ key }) => key);
        for (const { by } of meeting.slides ?? []) assert.ok(keys.includes(by), by);
        for (const { assignee } of meeting.actionItems ?? [])
          assert.ok(keys.includes(assignee ?? keys[0] ?? ""), `${assignee}`);
        for (const { by } of meeting.highlights ?? []) assert.ok(employees.has(by), by);
        let previousEnd = 0;
        for (const { startMs, endMs, slide } of slideTimes(meeting)) {
          assert.ok(startMs >= previousEnd && endMs > startMs, slide.title);
          previousEnd = endMs;
        }
      });

      it("uses only letters that the font has", () => {
        const shown = [meeting.title, meeting.meetingType, guestName, JSON.stringify(meeting.slides ?? [])];
        for (const line of shown)
          assert.deepEqual(undrawableLetters(line.replace(/["{}[\]_]/g, "")), [], line);
        for (const { name } of meeting.participants)
          assert.match(drawableText(name), /^\p{L}+[\p{L} .-]+$/u, name);
      });

      it("has well-formed tags", () => {
        assert.ok(meeting.tags.length > 0);
        assert.equal(new Set(meeting.tags).size, meeting.tags.length);
        for (const tag of meeting.tags) {
          assert.ok(isTag(tag), tag);
          assert.equal(tag, tag.normalize("NFC"));
        }
      });
    });
  }
});

describe("timed", () => {
  const lines = [
    ["a", "One two three four five six seven eight nine ten."],
    [PAUSE, "looking at the screen"],
    ["b", "Yes."],
    ["a", "Eleven twelve thirteen."],
  ] as const;

  it("ends close to the requested length, with the rest in the pause", () => {
    const segments = timed({ minutes: 5 }, lines);
    assert.deepEqual(
      segments.map((segment) => segment.key),
      ["a", "b", "a"],
    );
    const [first, second, third] = segments;
    assert.ok(first && second && third);
    assert.ok(second.start - first.end > 4 * 60_000);
    assert.ok(third.start - second.end < 1_000);
    assert.ok(Math.abs(third.end - 5 * 60_000) < 1_000);
  });

  it("is deterministic", () => {
    assert.deepEqual(timed({ minutes: 5 }, lines), timed({ minutes: 5 }, lines));
  });

  it("throws if the lines don't fit", () => {
    assert.throws(() => timed({ minutes: 0.05 }, lines), RangeError);
  });

  it("returns nothing without lines", () => {
    assert.deepEqual(timed({ minutes: 5 }, []), []);
  });
});

/** One sample meeting. Times are milliseconds from its start. */
export interface DemoMeeting {
  title: string;
  /** Whole days before today. */
  daysAgo: number;
  /** UTC time of day, "HH:MM". */
  startsAt: string;
  /** Name of one of the workspace's meeting types. */
  meetingType: string;
  /** Emails of the workspace's users. */
  recorders: readonly string[];
  /** Everyone present, including those who say nothing. */
  participants: readonly { key: string; name: string; email?: string; phone?: string }[];
  /** Name of the team. */
  team?: string;
  sharedWithTeams?: readonly string[];
  /** Emails of users. */
  sharedWithUsers?: readonly string[];
  shareState: "restricted" | "workspace" | "public";
  tags: readonly string[];
  /** Language code: "en", "de", "fr". */
  language: string;
  /** Left out for a meeting that has only a transcript. */
  media?: "video" | "audio";
  /** Slides of the shared screen, in order. */
  slides?: readonly DemoSlide[];
  highlights?: readonly DemoHighlight[];
  /** Used only if no language model is configured, which would write its own. */
  summary?: readonly DemoPoint[];
  actionItems?: readonly { line: string; text: string; assignee?: string; isDone?: boolean }[];
  segments: readonly DemoSegment[];
}

/** A slide of the shared screen, shown from the line that starts with `from` until the line that starts with `until`. */
export interface DemoSlide {
  from: string;
  until: string;
  /** Key of the participant who presents. */
  by: string;
  title: string;
  chart: DemoChart;
}

export type DemoChart =
  /** Bars with their values; `highlighted` ones have another colour. */
  | { kind: "bars"; unit: string; bars: readonly { label: string; value: number; highlighted?: boolean }[] }
  /** One line over time, from 0 to `max`; `mark` labels one value. */
  | {
      kind: "line";
      unit: string;
      max: number;
      labels: readonly string[];
      values: readonly number[];
      mark?: { at: number; text: string };
    }
  /** A list with checkboxes. */
  | { kind: "list"; items: readonly { text: string; isDone?: boolean }[] };

/** A point of a summary, in Markdown, with the words of the transcript that prove it. */
interface DemoPoint {
  heading?: string;
  text: string;
  quote: string;
}

/** A highlight of `lines` lines, starting at the line that starts with `from`. */
interface DemoHighlight {
  from: string;
  lines: number;
  text: string;
  tags: readonly string[];
  /** Email of its creator. */
  by: string;
}

/** A story; its highlights are referenced by their text. */
export interface DemoStory {
  title: string;
  description: string;
  tags: readonly string[];
  by: string;
  highlights: readonly string[];
}

/** One line of the transcript. A key without a participant is an anonymous speaker. */
export interface DemoSegment {
  key: string;
  start: number;
  end: number;
  text: string;
}

interface DemoUser {
  name: string;
  email: string;
  role: "admin" | "member";
  teams: readonly string[];
}

export interface DemoWorkspace {
  name: string;
  emailDomains: readonly string[];
  users: readonly DemoUser[];
  teams: readonly string[];
}

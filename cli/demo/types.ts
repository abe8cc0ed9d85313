/** One sample meeting, as the demo writes it through the upload path. Times in ms from the start. */
export interface DemoMeeting {
  title: string;
  /** whole days before the demo is made, and UTC time of day "HH:MM" */
  daysAgo: number;
  startsAt: string;
  /** name of one of the workspace's meeting types */
  meetingType: string;
  /** emails of employees */
  recorders: readonly string[];
  /** speakers and silent ones */
  participants: readonly { key: string; name: string; email?: string; phone?: string }[];
  /** team name */
  team?: string;
  sharedWithTeams?: readonly string[];
  /** emails */
  sharedWithUsers?: readonly string[];
  shareState: "restricted" | "workspace" | "public";
  /** a letter or digit, then letters, digits and dashes */
  tags: readonly string[];
  /** "en", "de", "fr", ... */
  language: string;
  /** What was recorded beside the words; left out: nothing, as of a transcript brought from elsewhere */
  media?: "video" | "audio";
  /** what is shown on the screen, in order; places are lines of the transcript, named by how they begin */
  slides?: readonly DemoSlide[];
  /** what people have marked */
  highlights?: readonly DemoHighlight[];
  /** what a language model would say of it, Markdown; only where no model is set up to say it itself */
  summary?: string;
  actionItems?: readonly { line: string; text: string; assignee?: string; isDone?: boolean }[];
  segments: readonly DemoSegment[];
}

/** A slide on the shared screen, from the line that begins with `from` to before the one that begins with `until`. */
export interface DemoSlide {
  from: string;
  until: string;
  /** key of who shares */
  by: string;
  title: string;
  chart: DemoChart;
}

export type DemoChart =
  /** bars with their values; `lit` ones stand out */
  | { kind: "bars"; unit: string; bars: readonly { label: string; value: number; lit?: boolean }[] }
  /** one line over time, from 0 to `most`; `mark` names a moment */
  | {
      kind: "line";
      unit: string;
      most: number;
      labels: readonly string[];
      values: readonly number[];
      mark?: { at: number; text: string };
    }
  /** a list; what is ticked is done */
  | { kind: "list"; items: readonly { text: string; isDone?: boolean }[] };

/** A marked part: the line that begins with `from`, and the next ones. */
export interface DemoHighlight {
  from: string;
  lines: number;
  text: string;
  tags: readonly string[];
  /** email of who marked it */
  by: string;
}

/** Highlights of several meetings, put together; each is named by its text. */
export interface DemoStory {
  title: string;
  description: string;
  tags: readonly string[];
  by: string;
  highlights: readonly string[];
}

/** One stretch of speech. A key that no participant has stands for an anonymous speaker. */
export interface DemoSegment {
  key: string;
  start: number;
  end: number;
  text: string;
}

export interface DemoPerson {
  name: string;
  email: string;
  role: "admin" | "member";
  teams: readonly string[];
}

export interface DemoWorkspace {
  name: string;
  emailDomains: readonly string[];
  people: readonly DemoPerson[];
  teams: readonly string[];
}

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
  segments: readonly DemoSegment[];
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

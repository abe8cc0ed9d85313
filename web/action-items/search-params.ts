/** Search parameters of the action items page: its filters. */
export interface ItemsSearch {
  /** `everyone`, `none` or a user id; absent: the user's own. */
  readonly assignee?: string | undefined;
  /** Absent: open items. */
  readonly state?: "completed" | "all" | undefined;
  readonly team?: string | undefined;
  readonly type?: string | undefined;
  /** Days as `YYYY-MM-DD`, both inclusive. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly text?: string | undefined;
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const day = /^\d{4}-\d\d-\d\d$/;

/** Parses the search parameters, ignoring invalid ones. */
export function readItemsSearch(raw: Readonly<Record<string, unknown>>): ItemsSearch {
  const read = (name: string, form: RegExp): string | undefined => {
    const value = typeof raw[name] === "number" ? String(raw[name]) : raw[name];
    return typeof value === "string" && form.test(value) ? value : undefined;
  };
  return {
    assignee: read("assignee", /^(?:everyone|none)$/) ?? read("assignee", uuid),
    state: raw.state === "completed" || raw.state === "all" ? raw.state : undefined,
    team: read("team", uuid),
    type: read("type", uuid),
    from: read("from", day),
    to: read("to", day),
    text: read("text", /\S/),
  };
}

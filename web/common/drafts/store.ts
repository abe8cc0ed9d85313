/**
 * Unsaved text, kept in this browser until it is saved or its user signs out. Never for passwords, tokens, or URLs that may
 * contain them.
 */
const prefix = "parley.draft:";
const maxDrafts = 50;
/** Of one draft, in UTF-16 units; notes may have 100,000. */
const maxLength = 200_000;
/** Of all drafts together; browsers give a site about five million. */
const maxTotalLength = 2_000_000;
const maxAgeMs = 30 * 86_400_000;

export interface StoredDraft {
  /** Unix time in milliseconds of the last change. */
  readonly at: number;
  /** The saved value that the draft began from. */
  readonly base: unknown;
  readonly value: unknown;
}

/** The owner of drafts: other accounts on the same device must not see them. */
export function ownerOf(session: {
  readonly user: { readonly id: string };
  readonly workspace: { readonly id: string };
}): string {
  return `${session.workspace.id}:${session.user.id}`;
}

/** Null when the browser blocks storage for this site. */
function storage(): Storage | null {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}

const keyOf = (owner: string, name: string): string => `${prefix}${owner}:${name}`;

/** The draft of that name; null if there is none or it can't be parsed. */
export function readDraft(owner: string, name: string): StoredDraft | null {
  return parse(storage()?.getItem(keyOf(owner, name)) ?? null);
}

/** Stores a draft, and removes the oldest ones if there are too many. @returns false if it can't be stored. */
export function writeDraft(owner: string, name: string, draft: Omit<StoredDraft, "at">): boolean {
  const text = JSON.stringify({ ...draft, at: Date.now() } satisfies StoredDraft);
  if (text.length > maxLength) return false;
  const key = keyOf(owner, name);
  const store = storage();
  if (store === null) return false;
  try {
    store.setItem(key, text);
  } catch {
    // Storage is full or off: removing older drafts may make room.
    prune(key, maxDrafts / 5, maxTotalLength / 10);
    try {
      store.setItem(key, text);
    } catch {
      return false;
    }
  }
  prune(key, maxDrafts, maxTotalLength);
  return true;
}

/** Removes a draft. @param value removes it only if it still has this value; another tab may have changed it. */
export function removeDraft(owner: string, name: string, value?: unknown): void {
  if (value !== undefined && JSON.stringify(readDraft(owner, name)?.value) !== JSON.stringify(value)) return;
  storage()?.removeItem(keyOf(owner, name));
}

/** The names of all drafts that start with a prefix. */
export function draftNames(owner: string, start: string): string[] {
  const whole = keyOf(owner, start);
  return draftKeys()
    .filter((key) => key.startsWith(whole))
    .map((key) => key.slice(keyOf(owner, "").length));
}

/** Removes all drafts of one user from this browser. */
export function removeAllDrafts(owner: string): void {
  for (const name of draftNames(owner, "")) removeDraft(owner, name);
}

function draftKeys(): string[] {
  return Object.keys(storage() ?? {}).filter((key) => key.startsWith(prefix));
}

function parse(text: string | null): StoredDraft | null {
  if (text === null) return null;
  try {
    const draft = JSON.parse(text) as StoredDraft;
    return typeof draft.at === "number" && Date.now() - draft.at < maxAgeMs ? draft : null;
  } catch {
    return null;
  }
}

/** Removes expired drafts, then the oldest until the rest is within the bounds. @param kept is never removed. */
function prune(kept: string, drafts: number, length: number): void {
  const found = draftKeys()
    .filter((key) => key !== kept)
    .map((key) => {
      const text = storage()?.getItem(key) ?? "";
      return { key, length: text.length, at: parse(text)?.at ?? 0 };
    })
    .sort((a, b) => b.at - a.at);
  let total = 0;
  for (const [index, draft] of found.entries()) {
    total += draft.length;
    if (draft.at === 0 || index + 1 >= drafts || total > length) storage()?.removeItem(draft.key);
  }
}

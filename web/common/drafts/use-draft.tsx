import { Trans } from "@lingui/react/macro";
import { Alert, Button, Group, Text } from "@mantine/core";
import { IconHistory } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { sessionQuery } from "../../api/session.ts";
import { useUnsavedInDialog } from "../dialogs/form-dialog.tsx";
import { whenInLine } from "../format/time.ts";
import { ownerOf, readDraft, removeDraft, writeDraft } from "./store.ts";

export interface Draft<T> {
  readonly value: T;
  readonly set: (next: T) => void;
  /** For values that are objects: replaces some of their fields. */
  readonly change: (fields: Partial<T>) => void;
  readonly isDirty: boolean;
  /** When the restored draft was last changed, in Unix milliseconds; null without one. */
  readonly restoredAt: number | null;
  /** The saved value has changed since the restored draft was started. */
  readonly isOutdated: boolean;
  /** Call once the value was saved. */
  readonly saved: () => void;
  /** Call with the value as the server saved it. */
  readonly rebase: (next: T) => void;
  /** Removes the stored draft when its form is cancelled. */
  readonly forget: () => void;
  /** Removes the stored draft and shows the saved value again. */
  readonly discard: () => void;
}

/** The key under which the drafts of the signed-in user are stored. */
export function useDraftOwner(): string {
  const session = useQuery(sessionQuery).data;
  return session ? ownerOf(session) : "";
}

/**
 * The value of a form, kept in this browser while it differs from the saved one, so that a lost connection, a reload or a
 * closed tab loses nothing. Inside a dialog, the dialog asks before it closes on unsaved changes.
 * @param name of the draft; null for forms with secrets, which are not stored.
 * @param saved value, of strings, numbers, booleans, and arrays of them, or an object of these.
 */
export function useDraft<T>(name: string | null, saved: T): Draft<T> {
  const owner = useDraftOwner();
  const [base, setBase] = useState(saved);
  const [found] = useState(() => {
    const draft = name === null || owner === "" ? null : readDraft(owner, name);
    if (draft === null || name === null) return null;
    if (hasShapeOf(base, draft.value) && !isSame(draft.value, base)) return draft;
    removeDraft(owner, name);
    return null;
  });
  const [value, setValue] = useState<T>(found === null ? base : (found.value as T));
  const [isRestored, setRestored] = useState(found !== null);
  const isDirty = !isSame(value, base);
  const set = useCallback(
    (next: T): void => {
      setValue(next);
      if (name === null || owner === "") return;
      if (isSame(next, base)) removeDraft(owner, name);
      else writeDraft(owner, name, { base, value: next });
    },
    [name, owner, base],
  );
  const forget = useCallback((): void => {
    if (name !== null && owner !== "") removeDraft(owner, name);
    setRestored(false);
  }, [name, owner]);
  useUnsavedInDialog(isDirty, forget);
  return {
    value,
    set,
    change: (fields) => set({ ...value, ...fields }),
    isDirty,
    restoredAt: isRestored && found !== null ? found.at : null,
    isOutdated: found !== null && !isSame(found.base, base),
    saved: () => {
      forget();
      setBase(value);
    },
    rebase: (next) => {
      forget();
      setBase(next);
      setValue(next);
    },
    forget,
    discard: () => {
      forget();
      setValue(base);
    },
  };
}

/** Reports restored unsaved changes, and offers to discard them. */
export function DraftNotice({
  draft,
}: {
  draft: Pick<Draft<unknown>, "restoredAt" | "isOutdated" | "discard">;
}) {
  if (draft.restoredAt === null) return null;
  const when = whenInLine(new Date(draft.restoredAt).toISOString());
  return (
    <Alert role="status" variant="light" p="xs" c="bright" icon={<IconHistory size={18} aria-hidden />}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" flex="1 1 12rem">
          <Trans>Unsaved changes restored ({when}).</Trans>{" "}
          {draft.isOutdated ? (
            <Trans>This has been changed since; saving replaces the newer version.</Trans>
          ) : null}
        </Text>
        <Button size="compact-sm" variant="default" onClick={draft.discard}>
          <Trans>Discard</Trans>
        </Button>
      </Group>
    </Alert>
  );
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** An older version of the app may have stored another shape under the same name. */
function hasShapeOf(sample: unknown, value: unknown): boolean {
  if (sample === null || value === null) return true;
  if (Array.isArray(sample)) return Array.isArray(value);
  if (typeof sample !== "object") return typeof sample === typeof value;
  if (typeof value !== "object" || Array.isArray(value)) return false;
  return Object.entries(sample).every(
    ([key, part]) => key in value && hasShapeOf(part, (value as Record<string, unknown>)[key]),
  );
}

import { plural } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { Paper, Text, Textarea, type TextareaProps, VisuallyHidden } from "@mantine/core";
import { type KeyboardEvent, type RefObject, useId, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { foldName } from "../../../../shared/fold-case.ts";
import { useInvitedUsers } from "../../../api/invited-users.ts";
import type { View } from "../../../api/recording/recording.ts";
import { useRecording } from "../../context.ts";
import classes from "./comments.module.css";
import type { User } from "./threads.ts";

const maxChoices = 6;
/** Characters after `@` that may be the start of a name. */
const maxQueryLength = 60;

/** A text field that offers users after `@`. Arrows, Enter or Tab choose one, Escape closes the list. */
export function MentionField(
  props: Omit<TextareaProps, "onChange" | "value"> & {
    value: string;
    field: RefObject<HTMLTextAreaElement | null>;
    users: readonly User[];
    /** `chosen`: the user whose name was just inserted. */
    onText: (text: string, chosen?: User) => void;
    onKey: (event: KeyboardEvent) => void;
  },
) {
  const { t, i18n } = useLingui();
  const { value, field, users, onText, onKey, ...rest } = props;
  const { view } = useRecording();
  const invited = useInvitedUsers();
  const listId = useId();
  const [caret, setCaret] = useState(0);
  const [active, setActive] = useState(0);
  // The position of the `@` whose list was closed.
  const [closedAt, setClosedAt] = useState(-1);
  // Where the space ends that was added after a chosen name.
  const spaceEnd = useRef(-1);
  const [hasFocus, setFocus] = useState(false);
  const start = startOfMention(value, caret);
  const isOpen = hasFocus && start >= 0 && start !== closedAt;
  const choices = isOpen ? find(users, value.slice(start + 1, caret), view) : [];
  const readCaret = (): void => setCaret(field.current?.selectionStart ?? 0);
  const choose = (user: User): void => {
    const before = `${value.slice(0, start)}@${user.name} `;
    flushSync(() => onText(before + value.slice(caret).replace(/^ /, ""), user));
    field.current?.setSelectionRange(before.length, before.length);
    spaceEnd.current = before.length;
    readCaret();
    setActive(0);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const choice = choices[active];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const isPlain = !event.nativeEvent.isComposing && !event.shiftKey && !event.ctrlKey && !event.metaKey;
    if (choice === undefined || !isPlain) {
      onKey(event);
      return;
    }
    if (step !== undefined) setActive((active + step + choices.length) % choices.length);
    else if (event.key === "Escape") setClosedAt(start);
    else if (event.key === "Enter" || event.key === "Tab") choose(choice);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className={classes.mentionField}>
      <Textarea
        {...rest}
        ref={field}
        value={value}
        aria-autocomplete="list"
        aria-haspopup="listbox"
        {...(choices.length === 0
          ? {}
          : { "aria-controls": listId, "aria-activedescendant": `${listId}-${active}` })}
        onChange={({ currentTarget }) => {
          setCaret(currentTarget.selectionStart);
          setActive(0);
          if (startOfMention(currentTarget.value, currentTarget.selectionStart) !== closedAt) setClosedAt(-1);
          const caretNow = currentTarget.selectionStart;
          const closes = punctuationIn(i18n.locale).includes(currentTarget.value.charAt(caretNow - 1));
          const isTyped = currentTarget.value.length === value.length + 1;
          if (isTyped && closes && caretNow === spaceEnd.current + 1) {
            const before = `${currentTarget.value.slice(0, caretNow - 2)}${currentTarget.value.charAt(caretNow - 1)}`;
            flushSync(() => onText(before + currentTarget.value.slice(caretNow)));
            field.current?.setSelectionRange(before.length, before.length);
            readCaret();
          } else onText(currentTarget.value);
          spaceEnd.current = -1;
        }}
        onSelect={readCaret}
        onFocus={(event) => {
          setFocus(true);
          rest.onFocus?.(event);
        }}
        onBlur={(event) => {
          setFocus(false);
          rest.onBlur?.(event);
        }}
        onKeyDown={onKeyDown}
      />
      {choices.length === 0 ? null : (
        <Paper className={classes.choices ?? ""} shadow="md" withBorder>
          <div role="listbox" id={listId} aria-label={t`People to mention`}>
            {choices.map((user, i) => (
              // biome-ignore lint/a11y/useFocusableInteractive lint/a11y/useKeyWithClickEvents: the field has the focus and handles the keys.
              <div
                key={user.id}
                id={`${listId}-${i}`}
                role="option"
                aria-selected={i === active}
                className={classes.choice}
                // Keeps the focus in the field.
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => choose(user)}
              >
                <Text span size="sm" fw={600} dir="auto">
                  {user.name}
                </Text>{" "}
                <Text span size="xs" c="dimmed">
                  {invited.has(user.id) ? t`${{ email: user.email }} · hasn't joined yet` : user.email}
                </Text>
              </div>
            ))}
          </div>
        </Paper>
      )}
      <VisuallyHidden role="status">
        {choices.length === 0
          ? ""
          : plural({ count: choices.length }, { one: "# person to mention", other: "# people to mention" })}
      </VisuallyHidden>
    </div>
  );
}

/** Characters before which no space is written. French has one before the higher ones. */
function punctuationIn(language: string): string {
  return language.startsWith("fr") ? ".,)…" : ".,)…?!:;";
}

/** Where the `@` before the caret is; -1 if no name is being written. */
function startOfMention(text: string, caret: number): number {
  const start = text.lastIndexOf("@", caret - 1);
  if (start < 0 || caret - start > maxQueryLength || caret <= start) return -1;
  // Not within an email, and not after another line.
  const isWithin = /[\p{L}\p{N}]/u.test(text.slice(0, start).slice(-1));
  return isWithin || text.slice(start, caret).includes("\n") ? -1 : start;
}

/** The users whose name or email has a part that begins like this, those who are known to see the recording first. */
function find(users: readonly User[], query: string, view: View): User[] {
  const start = foldName(query);
  // After a chosen name the list would stay open.
  if (query.startsWith(" ") || users.some(({ name }) => query.startsWith(`${name} `))) return [];
  const seeing = viewersOf(view);
  const matches = users.filter(({ name, email }) => {
    const folded = foldName(name);
    return (
      start === "" || folded.startsWith(start) || folded.includes(` ${start}`) || email.startsWith(start)
    );
  });
  const [known, others] = [matches.filter(seeing), matches.filter((user) => !seeing(user))];
  return [...known, ...others].slice(0, maxChoices);
}

/** Whether a user is known to see the recording; whom its teams have is not known here. */
function viewersOf({ recording, shared_users, participants }: View): (user: User) => boolean {
  const ids = new Set([...recording.recorders, ...shared_users].map(({ id }) => id));
  const emails = new Set(participants.map(({ email }) => email?.toLowerCase()));
  return ({ id, email }) =>
    recording.share_state !== "restricted" || ids.has(id) || emails.has(email.toLowerCase());
}

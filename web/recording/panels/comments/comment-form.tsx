import { Plural, Trans } from "@lingui/react/macro";
import { Button, Group, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type ReactNode, type RefObject, useRef, useState } from "react";
import { maxCommentLength, splitMentions } from "../../../../shared/mentions.ts";
import { usersQuery } from "../../../api/directory.ts";
import { FormError } from "../../../common/actions.tsx";
import { type Draft, useDraft } from "../../../common/drafts/use-draft.tsx";
import { number } from "../../../common/format/numbers.ts";
import { MentionField } from "./mention-field.tsx";
import { refusedOf, ShareOffer } from "./share-offer.tsx";
import type { User } from "./threads.ts";

/** The count of characters is shown from here on. */
const countedLength = maxCommentLength - 500;

interface CommentValue {
  readonly text: string;
  /** Ids of users who were chosen from the list: others may have the same name. */
  readonly chosen: string[];
  /** The moment of a new thread in milliseconds; null: no moment, or no text yet. */
  readonly at: number | null;
}

/** What is sent. */
export interface CommentInput extends Pick<CommentValue, "text" | "at"> {
  readonly mentions: string[];
}

/** The text of a comment, kept in this browser until it is sent. */
export function useCommentDraft(name: string, text = ""): Draft<CommentValue> {
  const [saved] = useState<CommentValue>(() => ({ text, chosen: [], at: null }));
  return useDraft(name, saved);
}

/** A field for the text of a comment. Ctrl or Cmd with Enter sends it. */
export function CommentForm(props: {
  draft: Draft<CommentValue>;
  /** Users that the comment mentions already, who may have left since. */
  mentioned?: readonly User[];
  label: string;
  placeholder?: string;
  /** The label of the button. */
  button: string;
  isFocused?: boolean;
  field?: RefObject<HTMLTextAreaElement | null>;
  send: (input: CommentInput) => Promise<unknown>;
  /** The moment of the comment with this text. */
  momentOf?: (text: string) => number | null;
  onFocus?: () => void;
  onBlur?: () => void;
  onDone?: () => void;
  onCancel?: () => void;
  /** Beside the button. */
  children?: ReactNode;
}) {
  const { draft, mentioned = [], label, placeholder, button, isFocused = false, momentOf } = props;
  const own = useRef<HTMLTextAreaElement>(null);
  const { text, chosen, at } = draft.value;
  const users = useQuery(usersQuery).data?.users ?? [];
  const mentions = (): User[] => {
    const isChosen = ({ id }: User): boolean => chosen.includes(id);
    const known = [...users.filter(isChosen), ...mentioned, ...users];
    const found = splitMentions(text, known).filter((part) => typeof part !== "string");
    return [...new Map(found.map((user) => [user.id, user])).values()];
  };
  const send = useMutation({
    mutationFn: (to: readonly User[]) => props.send({ text, at, mentions: to.map(({ id }) => id) }),
    onSuccess: () => {
      draft.discard();
      props.onDone?.();
    },
  });
  const refused = refusedOf(send.error, send.variables ?? []);
  const typed = number(text.length);
  const isTooLong = text.length > maxCommentLength;
  const isReady = text.trim() !== "" && !isTooLong;
  const submit = (): void => {
    if (isReady && !send.isPending) send.mutate(mentions());
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <MentionField
        field={props.field ?? own}
        users={users}
        aria-label={label}
        placeholder={placeholder}
        autosize
        minRows={1}
        maxRows={12}
        dir="auto"
        autoFocus={isFocused}
        value={text}
        readOnly={send.isPending}
        error={isTooLong}
        onFocus={props.onFocus}
        onBlur={props.onBlur}
        onText={(next, user) => {
          // What was refused may be no longer in the text.
          if (send.isError) send.reset();
          draft.change({
            text: next,
            at: momentOf?.(next) ?? null,
            chosen: user === undefined ? chosen : [...chosen, user.id],
          });
        }}
        onKey={(event) => {
          if (event.nativeEvent.isComposing || event.key !== "Enter") return;
          if (!event.ctrlKey && !event.metaKey) return;
          event.preventDefault();
          submit();
        }}
      />
      {text.length > countedLength ? (
        <Text size="xs" mt={4} c={isTooLong ? "var(--mantine-color-error)" : "dimmed"} role="status">
          <Plural
            value={maxCommentLength}
            one={`${typed} of # character`}
            other={`${typed} of # characters`}
          />
        </Text>
      ) : null}
      {refused.length === 0 ? (
        <FormError error={send.error} fields={[]} />
      ) : (
        <ShareOffer
          users={refused}
          onShared={submit}
          onWithout={() =>
            send.mutate(mentions().filter(({ id }) => !refused.some((user) => user.id === id)))
          }
        />
      )}
      <Group gap="xs" mt={6} justify="space-between">
        {props.children}
        <Group gap="xs">
          <Button type="submit" size="compact-sm" loading={send.isPending} disabled={!isReady}>
            {button}
          </Button>
          {props.onCancel === undefined ? null : (
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => {
                draft.forget();
                props.onCancel?.();
              }}
            >
              <Trans>Cancel</Trans>
            </Button>
          )}
        </Group>
      </Group>
    </form>
  );
}

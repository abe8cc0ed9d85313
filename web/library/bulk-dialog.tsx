import { msg, plural } from "@lingui/core/macro";
import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, List, Modal, Progress, Select, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { teamsQuery, usersQuery } from "../api/directory.ts";
import { type BulkChange, changeRecordings, perRequest } from "../api/library/bulk.ts";
import type { LibraryItem } from "../api/library/pages.ts";
import { refreshAfterTrash } from "../api/library/trash.ts";
import { workspaceQuery } from "../api/settings/workspace.ts";
import { FormError } from "../common/actions.tsx";
import { number } from "../common/format/numbers.ts";
import { WhatDeletingDoes } from "../trash/what-deleting-does.tsx";
import type { BulkAction, BulkDialogProps } from "./bulk-action.ts";
import { showBulkResult } from "./bulk-result.tsx";

const verbs = {
  tag: msg`Add tag`,
  share: msg({ context: "verb", message: "Share" }),
  delete: msg`Delete`,
} as const;

const titles = {
  tag: (count: number) => plural(count, { one: "Add tag to # recording", other: "Add tag to # recordings" }),
  share: (count: number) => plural(count, { one: "Share # recording", other: "Share # recordings" }),
  delete: (count: number) => plural(count, { one: "Delete # recording?", other: "Delete # recordings?" }),
} as const;

/** Titles named before the rest is counted. */
const maxNamed = 5;

/** Asks what to do with the recordings, says what will happen, does it, and offers to undo it. */
export function BulkDialog({ action, items, onClose, onDone }: BulkDialogProps) {
  const changeable = items.filter(({ can_change }) => can_change);
  const work = useBulkChange(changeable, (left) => {
    onClose();
    onDone(left);
  });
  // While requests are sent, closing means to stop after the current one.
  const close = () => {
    if (work.isRunning) return work.stop();
    work.reset();
    onClose();
  };
  return (
    <Modal
      opened={action !== null}
      onClose={close}
      closeOnClickOutside={!work.isRunning}
      title={action === null ? "" : titles[action](changeable.length)}
    >
      {action === null ? null : (
        <Form
          action={action}
          items={changeable}
          leftOut={items.length - changeable.length}
          work={work}
          onClose={close}
        />
      )}
    </Modal>
  );
}

type Work = ReturnType<typeof useBulkChange>;

function useBulkChange(items: readonly LibraryItem[], onDone: (left: readonly string[]) => void) {
  const client = useQueryClient();
  const days = useQuery(workspaceQuery).data?.trash_days;
  const [tried, setTried] = useState(0);
  const [isStopping, setStopping] = useState(false);
  const [isUncertain, setUncertain] = useState(false);
  const controller = useRef<AbortController | null>(null);
  const last = useRef({ change: "", uncertain: new Set<string>() });
  const run = useMutation({
    mutationFn: async (change: BulkChange) => {
      controller.current = new AbortController();
      setTried(0);
      setStopping(false);
      const key = JSON.stringify([change, items.map(({ recording }) => recording.id)]);
      if (last.current.change !== key) last.current = { change: key, uncertain: new Set() };
      return changeRecordings(
        items.map(({ recording }) => recording.id),
        change,
        { uncertain: last.current.uncertain, onProgress: setTried, signal: controller.current.signal },
      );
    },
    onSuccess: async (result, change) => {
      onDone([...result.failed.map(({ id }) => id), ...result.rest]);
      const refresh = (ids: readonly string[] | null) => refreshAfterTrash(client, ids);
      showBulkResult({ result, change, items, isRestorable: days !== 0, refresh });
      await refresh([...result.done, ...result.changed]);
    },
    onError: () => {
      const { uncertain } = last.current;
      setUncertain(uncertain.size > 0);
      if (uncertain.size > 0) void refreshAfterTrash(client, [...uncertain]);
    },
  });
  return {
    days,
    start: (change: BulkChange) => run.mutate(change),
    reset: () => run.reset(),
    stop: () => {
      setStopping(true);
      controller.current?.abort();
    },
    error: run.error,
    /** Whether recordings may have been changed although the request failed. */
    isUncertain,
    isRunning: run.isPending,
    isStopping,
    tried,
  };
}

function Form(props: {
  action: BulkAction;
  items: readonly LibraryItem[];
  leftOut: number;
  work: Work;
  onClose: () => void;
}) {
  const { t } = useLingui();
  const { action, items, leftOut, work, onClose } = props;
  const [text, setText] = useState("");
  const change = changeOf(action, text);
  const isReady = change !== null && (action !== "delete" || work.days !== undefined);
  const isLong = items.length > perRequest;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) work.start(change);
      }}
    >
      <Stack>
        {action === "tag" ? (
          <TextInput
            label={t`Tag`}
            description={t`Letters, numbers, dashes`}
            data-autofocus
            maxLength={100}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        ) : action === "share" ? (
          <ShareWith value={text} onChange={setText} />
        ) : (
          <WhatIsDeleted items={items} days={work.days} />
        )}
        {leftOut === 0 ? null : (
          <Text size="sm">
            <Plural
              value={leftOut}
              one="# recording left out: you can't change it."
              other="# recordings left out: you can't change them."
            />
          </Text>
        )}
        <FormError error={work.error} fields={[]} />
        {work.error !== null && work.isUncertain ? (
          <Text size="sm">
            <Trans>The recordings may have been changed. Try again to make sure.</Trans>
          </Text>
        ) : null}
        {work.isRunning && isLong ? <Tried tried={work.tried} total={items.length} /> : null}
        <Group justify="flex-end">
          <Button
            variant="default"
            disabled={work.isRunning && (work.isStopping || !isLong)}
            onClick={onClose}
          >
            {work.isRunning && isLong ? t`Stop` : t`Cancel`}
          </Button>
          <Button
            type="submit"
            color={action === "delete" ? "red.9" : "indigo"}
            disabled={!isReady}
            loading={work.isRunning}
          >
            {t(verbs[action])}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Tried({ tried, total }: { tried: number; total: number }) {
  const { t } = useLingui();
  const done = number(tried);
  return (
    <div>
      <Progress value={(tried / total) * 100} aria-label={t`Progress`} />
      <Text size="sm" c="dimmed" mt={6}>
        <Plural value={total} one={`${done} of # recording`} other={`${done} of # recordings`} />
      </Text>
    </div>
  );
}

/** A team or user as `team ID` or `user ID`. */
function ShareWith({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const { t } = useLingui();
  const teams = useQuery(teamsQuery).data?.teams ?? [];
  const users = useQuery(usersQuery).data?.users ?? [];
  return (
    <Select
      label={t`Share with`}
      placeholder={t`Team or user`}
      searchable
      data-autofocus
      limit={100}
      data={[
        { group: t`Teams`, items: teams.map(({ id, name }) => ({ value: `team ${id}`, label: name })) },
        {
          group: t`Users`,
          items: users.map(({ id, name, email }) => ({ value: `user ${id}`, label: `${name} (${email})` })),
        },
      ]}
      value={value || null}
      onChange={(chosen) => onChange(chosen ?? "")}
    />
  );
}

function WhatIsDeleted({ items, days }: { items: readonly LibraryItem[]; days: number | undefined }) {
  return (
    <>
      <Text>
        {days === 0 ? (
          <Trans>Deletes for everyone, with transcripts, highlights and notes:</Trans>
        ) : (
          <Trans>Moves to the trash for everyone, with transcripts, highlights and notes:</Trans>
        )}
      </Text>
      <List spacing={2}>
        {items.slice(0, maxNamed).map(({ recording }) => (
          <List.Item key={recording.id}>
            <span dir="auto">{recording.title}</span>
          </List.Item>
        ))}
        {items.length > maxNamed ? (
          <List.Item>
            <Plural value={items.length - maxNamed} one="# more" other="# more" />
          </List.Item>
        ) : null}
      </List>
      <WhatDeletingDoes days={days} />
    </>
  );
}

/** The change that the form describes; null while something is missing. */
function changeOf(action: BulkAction, text: string): BulkChange | null {
  if (action === "delete") return { kind: "delete" };
  const value = text.trim();
  if (value === "") return null;
  if (action === "tag") return { kind: "add_tag", tag: value };
  const [kind, id = ""] = value.split(" ");
  return kind === "team"
    ? { kind: "share_with_team", team_id: id }
    : { kind: "share_with_user", user_id: id };
}

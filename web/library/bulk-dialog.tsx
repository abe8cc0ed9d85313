import { Button, Group, List, Modal, Select, Stack, Text, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type BulkChange, type BulkResult, changeRecordings } from "../api/library.ts";
import { teamsQuery, usersQuery } from "../api/recordings.ts";
import { workspaceQuery } from "../api/settings/workspace.ts";
import { refreshAfterTrash } from "../api/trash.ts";
import { FormError } from "../common/actions.tsx";
import { counted } from "../common/format/count.ts";
import { showUndoToast } from "../common/undo-toast.tsx";
import { WhatDeletingDoes } from "../trash/what-deleting-does.tsx";
import type { BulkAction, BulkDialogProps } from "./bulk-action.ts";

const titles = { tag: "Add tag", share: "Share", delete: "Delete" } as const;
const verbs = { tag: "Add tag", share: "Share", delete: "Delete" } as const;

/** Titles named before the rest is counted. */
const maxNamed = 5;

/** Asks what to do with the recordings, says what will happen, does it, and offers to undo it. */
export function BulkDialog({ action, items, onClose, onDone }: BulkDialogProps) {
  const title = action === null ? "" : `${titles[action]}: ${counted(items.length, "recording")}`;
  return (
    <Modal opened={action !== null} onClose={onClose} title={title}>
      {action === null ? null : <Form action={action} items={items} onClose={onClose} onDone={onDone} />}
    </Modal>
  );
}

function Form(props: BulkDialogProps & { action: BulkAction }) {
  const { action, items, onClose, onDone } = props;
  const client = useQueryClient();
  const [text, setText] = useState("");
  const change = changeOf(action, text);
  const run = useMutation({
    mutationFn: (wanted: BulkChange) =>
      changeRecordings(
        items.map(({ recording }) => recording.id),
        wanted,
      ),
    onSuccess: async (result, wanted) => {
      onClose();
      onDone();
      showResult(result, wanted, () => refreshAfterTrash(client));
      await refreshAfterTrash(client);
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (change !== null) run.mutate(change);
      }}
    >
      <Stack>
        {action === "tag" ? (
          <TextInput
            label="Tag"
            description="Letters, digits and dashes"
            data-autofocus
            maxLength={100}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        ) : action === "share" ? (
          <ShareWith value={text} onChange={setText} />
        ) : (
          <WhatIsDeleted items={items} />
        )}
        <FormError error={run.error} fields={[]} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button
            type="submit"
            color={action === "delete" ? "red.9" : "indigo"}
            disabled={change === null}
            loading={run.isPending}
          >
            {verbs[action]}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** A team or user as `team ID` or `user ID`. */
function ShareWith({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const teams = useQuery(teamsQuery).data?.teams ?? [];
  const users = useQuery(usersQuery).data?.users ?? [];
  return (
    <Select
      label="Share with"
      placeholder="Team or user"
      searchable
      data-autofocus
      limit={100}
      data={[
        { group: "Teams", items: teams.map(({ id, name }) => ({ value: `team ${id}`, label: name })) },
        {
          group: "Users",
          items: users.map(({ id, name, email }) => ({ value: `user ${id}`, label: `${name} (${email})` })),
        },
      ]}
      value={value || null}
      onChange={(chosen) => onChange(chosen ?? "")}
    />
  );
}

function WhatIsDeleted({ items }: { items: BulkDialogProps["items"] }) {
  const days = useQuery(workspaceQuery).data?.trash_days;
  return (
    <>
      <Text>Deletes for everyone, with transcripts, highlights and notes:</Text>
      <List spacing={2}>
        {items.slice(0, maxNamed).map(({ recording }) => (
          <List.Item key={recording.id}>
            <span dir="auto">{recording.title}</span>
          </List.Item>
        ))}
        {items.length > maxNamed ? <List.Item>{`${items.length - maxNamed} more`}</List.Item> : null}
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

function showResult(
  { done, changed, failed, purge_datetime }: BulkResult,
  change: BulkChange,
  refresh: () => Promise<void>,
): void {
  if (failed.length > 0)
    notifications.show({
      color: "red",
      title: `${counted(failed.length, "recording")} couldn't be changed`,
      message: failed[0]?.detail ?? "",
    });
  if (done.length === 0) return;
  const what = counted(done.length, "recording");
  const message = {
    add_tag: `${what} tagged`,
    share_with_team: `${what} shared`,
    share_with_user: `${what} shared`,
    delete: purge_datetime === null ? `${what} permanently deleted` : `${what} moved to trash`,
  }[change.kind as "add_tag" | "share_with_team" | "share_with_user" | "delete"];
  const inverse = inverseOf(change, purge_datetime !== null);
  if (inverse === null || changed.length === 0) notifications.show({ message });
  else
    showUndoToast({
      message,
      undone: change.kind === "delete" ? `${what} restored` : "Undone",
      undo: async () => {
        const undone = await changeRecordings(changed, inverse);
        await refresh();
        if (undone.failed.length === 0) return undefined;
        return `${counted(undone.done.length, "recording")} of ${changed.length} undone: ${undone.failed[0]?.detail}`;
      },
    });
}

/** What undoes a change of a recording; null where nothing does. */
function inverseOf(change: BulkChange, isRestorable: boolean): BulkChange | null {
  switch (change.kind) {
    case "delete":
      return isRestorable ? { kind: "restore" } : null;
    case "add_tag":
      return { kind: "remove_tag", tag: change.tag };
    case "share_with_team":
      return { kind: "unshare_from_team", team_id: change.team_id };
    case "share_with_user":
      return { kind: "unshare_from_user", user_id: change.user_id };
    default:
      return null;
  }
}

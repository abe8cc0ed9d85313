import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Button, CloseButton, Group, Radio, Select, Stack, Text } from "@mantine/core";
import { IconEye, IconLink } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError } from "../../api/client/api-error.ts";
import { teamsQuery, usersQuery } from "../../api/directory.ts";
import { useInvitedUsers } from "../../api/invited-users.ts";
import { type LinkBody, linksQuery } from "../../api/public-links.ts";
import { refreshRecording } from "../../api/recording/recording.ts";
import { useClipboard } from "../../common/clipboard.ts";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";
import { useRecording } from "../context.ts";
import { AccessRequests } from "./access-requests.tsx";
import { LeavePublic, PublicLinks } from "./public-links.tsx";
import classes from "./share.module.css";
import { whoSees } from "./who-sees.ts";

const page = getRouteApi("/signed-in/recordings/$recordingId");

/** Who can see a recording. Every change applies immediately. */
export function ShareDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { t } = useLingui();
  return (
    <FormDialog opened={isOpen} onClose={onClose} title={t`Share`} size="lg">
      <Sharing onClose={onClose} />
    </FormDialog>
  );
}

/** Whether a public recording has working links. */
function linkState(links: readonly LinkBody[]): "none" | "expired" | "some" {
  if (links.length === 0) return "none";
  const isExpired = ({ expires_datetime: end }: LinkBody) => end !== null && Date.parse(end) <= Date.now();
  return links.every(isExpired) ? "expired" : "some";
}

type ShareState = "restricted" | "workspace" | "public";

function Sharing({ onClose }: { onClose: () => void }) {
  const { t } = useLingui();
  const { id, view, actions } = useRecording();
  const { recording, shared_users, can } = view;
  const { session } = page.useRouteContext();
  const client = useQueryClient();
  const copy = useClipboard();
  const users = useQuery(usersQuery);
  const teams = useQuery(teamsQuery);
  const invited = useInvitedUsers();
  // Shows the choice immediately, and reverts if the request fails.
  const [chosen, setChosen] = useState<ShareState | null>(null);
  const change = useMutation({
    mutationFn: (work: () => Promise<unknown>) => work(),
    onSuccess: () =>
      Promise.all([
        refreshRecording(client, id),
        client.invalidateQueries({ queryKey: ["links", "recording", id] }),
      ]),
    onSettled: () => setChosen(null),
  });
  const isPublic = recording.share_state === "public";
  const links = useQuery({
    ...linksQuery({ kind: "recording", id }),
    enabled: isPublic && can.share,
  });
  const [pendingState, setPendingState] = useState<ShareState | null>(null);
  const setState = (value: ShareState): void => {
    setChosen(value);
    change.mutate(() => actions.change({ share_state: value }));
  };
  const members = users.data?.users ?? [];
  const taken = new Set([...shared_users, ...recording.recorders].map(({ id: user }) => user));
  const states: readonly (readonly [value: ShareState, label: string, text: string])[] = [
    [
      "restricted",
      t`Restricted`,
      view.participants.some((one) => one.is_invited)
        ? t`Participants, except those who were only invited, and people added below`
        : t`Participants and people added below`,
    ],
    ["workspace", t`Workspace`, t`Everyone in ${{ workspace: session.workspace.name }}`],
    ["public", t`Public`, t`Anyone with the link, without signing in`],
  ];
  return (
    <Stack>
      <Alert icon={<IconEye aria-hidden />} role="status" className={classes.who ?? ""}>
        {whoSees(view, session.workspace.name, members, links.data && linkState(links.data.links))}
      </Alert>
      <AccessRequests />
      {change.isError ? (
        <Alert color="red" role="alert" title={t`Couldn't change sharing`}>
          {change.error instanceof ApiError ? change.error.message : t`Something went wrong.`}
        </Alert>
      ) : null}
      <Radio.Group
        label={t`Who can see it`}
        value={pendingState ?? chosen ?? recording.share_state}
        readOnly={!can.share}
        onChange={(value) => {
          // Without links there is nothing to confirm.
          const losesLinks = isPublic && value !== "public" && links.data?.links.length !== 0;
          setPendingState(losesLinks ? (value as ShareState) : null);
          if (!losesLinks && value !== recording.share_state) setState(value as ShareState);
        }}
      >
        <Stack gap="sm" mt="xs">
          {states.map(([value, label, text]) => (
            <Radio
              key={value}
              value={value}
              label={label}
              description={text}
              disabled={!can.share || change.isPending}
            />
          ))}
        </Stack>
      </Radio.Group>
      {pendingState !== null ? (
        <LeavePublic
          isBusy={change.isPending}
          onKeep={() => setPendingState(null)}
          onLeave={() => {
            setPendingState(null);
            setState(pendingState);
          }}
        />
      ) : isPublic ? (
        <PublicLinks />
      ) : null}
      <Shares
        label={t`People`}
        listLabel={t`People with access`}
        placeholder={t`Add people`}
        shared={shared_users.map(({ id: user, name, email }) => ({
          id: user,
          name,
          detail: invited.has(user) ? t`${email} · hasn't joined yet` : email,
        }))}
        choices={members
          .filter(({ id: user }) => !taken.has(user))
          .map(({ id: user, name, email }) => ({
            value: user,
            label: invited.has(user) ? t`${name} (${email}) · hasn't joined yet` : `${name} (${email})`,
          }))}
        canChange={can.share}
        isBusy={change.isPending}
        onAdd={(user) => change.mutate(() => actions.shareToUser(user))}
        onRemove={(user) => change.mutate(() => actions.unshareFromUser(user))}
      />
      <Shares
        label={t`Teams`}
        listLabel={t`Teams with access`}
        placeholder={t`Add teams`}
        shared={recording.teams.map(({ id: team, name }) => ({ id: team, name, detail: null }))}
        choices={(teams.data?.teams ?? [])
          .filter(({ id: team }) => !recording.teams.some((shared) => shared.id === team))
          .map(({ id: team, name }) => ({ value: team, label: name }))}
        canChange={can.share}
        isBusy={change.isPending}
        onAdd={(team) => change.mutate(() => actions.shareToTeam(team))}
        onRemove={(team) => change.mutate(() => actions.unshareFromTeam(team))}
      />
      {can.share ? null : (
        <Text size="sm" c="dimmed">
          <Trans>Only owners and admins can change this.</Trans>
        </Text>
      )}
      <Group justify="space-between">
        <Button
          variant="light"
          leftSection={<IconLink size={18} aria-hidden />}
          onClick={() => copy.text(recording.url, t`Link copied`)}
        >
          <Trans>Copy internal link</Trans>
        </Button>
        <Button onClick={onClose}>
          <Trans>Done</Trans>
        </Button>
      </Group>
    </Stack>
  );
}

function Shares(props: {
  label: string;
  listLabel: string;
  placeholder: string;
  shared: readonly { readonly id: string; readonly name: string; readonly detail: string | null }[];
  choices: { value: string; label: string }[];
  canChange: boolean;
  isBusy: boolean;
  onAdd: (id: string) => void;
  onRemove: (id: string) => void;
}) {
  const { t } = useLingui();
  const { label, listLabel, placeholder, shared, choices, canChange, isBusy, onAdd, onRemove } = props;
  if (!canChange && shared.length === 0) return null;
  return (
    <div>
      {canChange ? (
        <Select
          label={label}
          placeholder={placeholder}
          searchable
          nothingFoundMessage={t`No matches`}
          data={choices}
          value={null}
          // Highlights nothing, since the list is not there yet, but starts no timer that forgets what an arrow key highlights.
          selectFirstOptionOnDropdownOpen
          disabled={isBusy}
          onChange={(value) => {
            if (value !== null) onAdd(value);
          }}
        />
      ) : (
        <Text size="sm" fw={500}>
          {label}
        </Text>
      )}
      {shared.length === 0 ? null : (
        <ul className={classes.shared} aria-label={listLabel}>
          {shared.map(({ id, name, detail }) => (
            <li key={id}>
              <span className={classes.name} dir="auto">
                {name}
                {detail === null ? null : <small>{detail}</small>}
              </span>
              {canChange ? (
                <CloseButton
                  aria-label={t`Stop sharing with ${name}`}
                  disabled={isBusy}
                  onClick={() => onRemove(id)}
                />
              ) : null}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

import { plural } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Button, CloseButton, Group, Pill, Select } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import {
  addMember,
  createTeam,
  deleteTeam,
  managedUsersQuery,
  removeMember,
  renameTeam,
  type Team,
  teamKeys,
  teamMembersQuery,
} from "../../api/settings/users.ts";
import { useAction } from "../../common/actions.tsx";
import { ConfirmButton } from "../../common/forms/confirm.tsx";
import { Loaded, NoneYet, Row, Rows, SettingsPage } from "../parts.tsx";
import { NameDialog } from "./name-form.tsx";

/** Teams that recordings can be shared with. */
export function TeamsPage() {
  const { t } = useLingui();
  const teams = useQuery(teamMembersQuery);
  const [opened, { open, close }] = useDisclosure();
  return (
    <SettingsPage
      title={t`Teams`}
      lead={t`Members can see everything shared with their team, including before they joined.`}
      action={
        <Button leftSection={<IconPlus size={18} />} onClick={open}>
          <Trans>Create team</Trans>
        </Button>
      }
    >
      <Loaded query={teams}>
        {({ teams }) =>
          teams.length === 0 ? (
            <NoneYet>
              <Trans>No teams yet.</Trans>
            </NoneYet>
          ) : (
            <Rows label={t`Teams`}>
              {teams.map((team) => (
                <TeamRow key={team.id} team={team} />
              ))}
            </Rows>
          )
        }
      </Loaded>
      <NameDialog
        opened={opened}
        onClose={close}
        title={t`New team`}
        label={t`Create team`}
        value=""
        run={createTeam}
        done={t`Team created.`}
        refresh={teamKeys}
      />
    </SettingsPage>
  );
}

function TeamRow({ team }: { team: Team }) {
  const { t } = useLingui();
  const users = useQuery(managedUsersQuery).data?.users ?? [];
  const [renames, { open, close }] = useDisclosure();
  const add = useAction({ run: (userId: string) => addMember(team.id, userId), refresh: teamKeys });
  const remove = useAction({ run: (userId: string) => removeMember(team.id, userId), refresh: teamKeys });
  const { name } = team;
  const nameOf = (id: string) => users.find((user) => user.id === id)?.name ?? "…";
  const others = users.filter(({ id, state }) => state === "active" && !team.member_ids.includes(id));
  return (
    <Row
      title={name}
      facts={[plural(team.member_ids.length, { one: "# member", other: "# members" })]}
      actions={
        <>
          <Button variant="subtle" size="compact-sm" aria-label={t`Rename ${name}`} onClick={open}>
            <Trans>Rename</Trans>
          </Button>
          <ConfirmButton
            text={t`Delete`}
            button={{ "aria-label": t`Delete ${name}` }}
            title={t`Delete ${name}?`}
            label={t`Delete team`}
            run={() => deleteTeam(team.id)}
            done={t`${name} deleted.`}
            refresh={teamKeys}
          >
            <Trans>
              Members lose access to recordings shared only with this team. Recordings and users stay.
            </Trans>
          </ConfirmButton>
        </>
      }
    >
      <Group gap={6} mt={8}>
        {team.member_ids.map((id) => (
          <Pill key={id} size="md">
            <Group gap={2} wrap="nowrap">
              {nameOf(id)}
              <CloseButton
                size={20}
                iconSize={12}
                aria-label={t`Remove ${{ user: nameOf(id) }} from ${{ team: name }}`}
                onClick={() => remove.mutate(id)}
              />
            </Group>
          </Pill>
        ))}
        {others.length === 0 ? null : (
          <Select
            size="xs"
            w={160}
            aria-label={t`Add user to ${{ team: name }}`}
            placeholder={t`Add user`}
            searchable
            nothingFoundMessage={t`No matches`}
            data={others.map(({ id, name }) => ({ value: id, label: name }))}
            value={null}
            // Highlights nothing, since the list is not there yet, but starts no timer that forgets what an arrow key highlights.
            selectFirstOptionOnDropdownOpen
            onChange={(id) => id !== null && add.mutate(id)}
          />
        )}
      </Group>
      <NameDialog
        opened={renames}
        onClose={close}
        title={t`Rename ${name}`}
        label={t`Rename`}
        value={name}
        run={(name) => renameTeam(team.id, name)}
        done={t`Team renamed.`}
        refresh={teamKeys}
      />
    </Row>
  );
}

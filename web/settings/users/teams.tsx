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
import { counted } from "../../common/format/count.ts";
import { ConfirmButton } from "../../common/forms/confirm.tsx";
import { Loaded, NoneYet, Row, Rows, SettingsPage } from "../parts.tsx";
import { NameDialog } from "./name-form.tsx";

/** Teams that recordings can be shared with. */
export function TeamsPage() {
  const teams = useQuery(teamMembersQuery);
  const [opened, { open, close }] = useDisclosure();
  return (
    <SettingsPage
      title="Teams"
      lead="Members can see everything shared with their team, including before they joined."
      action={
        <Button leftSection={<IconPlus size={18} />} onClick={open}>
          {" "}
          Create team{" "}
        </Button>
      }
    >
      <Loaded query={teams}>
        {({ teams }) =>
          teams.length === 0 ? (
            <NoneYet>No teams yet.</NoneYet>
          ) : (
            <Rows label="Teams">
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
        title="New team"
        label="Create team"
        value=""
        run={createTeam}
        done="Team created."
        refresh={teamKeys}
      />
    </SettingsPage>
  );
}

function TeamRow({ team }: { team: Team }) {
  const users = useQuery(managedUsersQuery).data?.users ?? [];
  const [renames, { open, close }] = useDisclosure();
  const add = useAction({ run: (userId: string) => addMember(team.id, userId), refresh: teamKeys });
  const remove = useAction({ run: (userId: string) => removeMember(team.id, userId), refresh: teamKeys });
  const nameOf = (id: string) => users.find((user) => user.id === id)?.name ?? "…";
  const others = users.filter(({ id, state }) => state === "active" && !team.member_ids.includes(id));
  return (
    <Row
      title={team.name}
      facts={[counted(team.member_ids.length, "member")]}
      actions={
        <>
          <Button variant="subtle" size="compact-sm" aria-label={`Rename ${team.name}`} onClick={open}>
            Rename
          </Button>
          <ConfirmButton
            text="Delete"
            button={{ "aria-label": `Delete ${team.name}` }}
            title={`Delete ${team.name}?`}
            label="Delete team"
            run={() => deleteTeam(team.id)}
            done={`${team.name} deleted.`}
            refresh={teamKeys}
          >
            Members lose access to recordings shared only with this team. Recordings and users stay.
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
                aria-label={`Remove ${nameOf(id)} from ${team.name}`}
                onClick={() => remove.mutate(id)}
              />
            </Group>
          </Pill>
        ))}
        {others.length === 0 ? null : (
          <Select
            size="xs"
            w={160}
            aria-label={`Add user to ${team.name}`}
            placeholder="Add user"
            searchable
            nothingFoundMessage="No matches"
            data={others.map(({ id, name }) => ({ value: id, label: name }))}
            value={null}
            onChange={(id) => id !== null && add.mutate(id)}
          />
        )}
      </Group>
      <NameDialog
        opened={renames}
        onClose={close}
        title={`Rename ${team.name}`}
        label="Rename"
        value={team.name}
        run={(name) => renameTeam(team.id, name)}
        done="Team renamed."
        refresh={teamKeys}
      />
    </Row>
  );
}

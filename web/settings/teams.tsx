import { Button, CloseButton, Group, Pill, Select } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import {
  addMember,
  createTeam,
  deleteTeam,
  peopleQuery,
  removeMember,
  renameTeam,
  type Team,
  teamKeys,
  teamMembersQuery,
} from "../api/people.ts";
import { useAction } from "../common/actions.tsx";
import { ConfirmButton } from "../common/confirm.tsx";
import { NameDialog } from "./name-form.tsx";
import { Loaded, NoneYet, Row, Rows, SettingsPage } from "./parts.tsx";

/** Teams, with whom recordings can be shared at once. */
export function TeamsPage() {
  const teams = useQuery(teamMembersQuery);
  const [opened, { open, close }] = useDisclosure();
  return (
    <SettingsPage
      title="Teams"
      lead="What is shared with a team is seen by everybody in it, also by those who join later."
      action={
        <Button leftSection={<IconPlus size={18} />} onClick={open}>
          New team
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
        label="Make team"
        value=""
        run={createTeam}
        done="The team is there."
        refresh={teamKeys}
      />
    </SettingsPage>
  );
}

function TeamRow({ team }: { team: Team }) {
  const people = useQuery(peopleQuery).data?.users ?? [];
  const [renames, { open, close }] = useDisclosure();
  const add = useAction({ run: (userId: string) => addMember(team.id, userId), refresh: teamKeys });
  const remove = useAction({ run: (userId: string) => removeMember(team.id, userId), refresh: teamKeys });
  const nameOf = (id: string) => people.find((person) => person.id === id)?.name ?? "…";
  const others = people.filter(({ id, state }) => state === "active" && !team.member_ids.includes(id));
  return (
    <Row
      title={team.name}
      facts={[team.member_ids.length === 1 ? "1 person" : `${team.member_ids.length} people`]}
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
            done={`${team.name} is deleted.`}
            refresh={teamKeys}
          >
            What was shared with it is shared with it no longer. Recordings and people stay.
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
                aria-label={`Take ${nameOf(id)} out of ${team.name}`}
                onClick={() => remove.mutate(id)}
              />
            </Group>
          </Pill>
        ))}
        {others.length === 0 ? null : (
          <Select
            size="xs"
            w={160}
            aria-label={`Add somebody to ${team.name}`}
            placeholder="Add somebody"
            searchable
            nothingFoundMessage="Nobody of that name"
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
        done="The team has its new name."
        refresh={teamKeys}
      />
    </Row>
  );
}

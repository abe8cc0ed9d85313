import { Button, Group, Modal, MultiSelect, Select, Stack, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { invite, type OneTimeLink, peopleQuery, type Role, teamMembersQuery } from "../api/people.ts";
import { FormError, fieldErrors, useAction } from "../common/actions.tsx";

interface InviteProps {
  opened: boolean;
  onClose: () => void;
  onInvited: (title: string, link: OneTimeLink) => void;
}

/** Asks for somebody new and makes the link by which they come in. */
export function Invite({ opened, onClose, onInvited }: InviteProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="Invite somebody" centered>
      <InviteForm onClose={onClose} onInvited={onInvited} />
    </Modal>
  );
}

function InviteForm({ onClose, onInvited }: Omit<InviteProps, "opened">) {
  const teams = useQuery(teamMembersQuery).data?.teams ?? [];
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("member");
  const [teamIds, setTeamIds] = useState<string[]>([]);
  const send = useAction({
    run: () => invite({ name, email, role, team_ids: teamIds }),
    refresh: [peopleQuery.queryKey, teamMembersQuery.queryKey],
    showsError: true,
    onDone: ({ user, invitation }) => onInvited(`Invitation of ${user.name}`, invitation),
  });
  const faults = fieldErrors(send.error);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        send.mutate();
      }}
    >
      <Stack>
        <TextInput
          label="Name"
          required
          data-autofocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={faults.name}
        />
        <TextInput
          label="Email"
          type="email"
          required
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          error={faults.email}
        />
        <Select
          label="Role"
          allowDeselect={false}
          data={[
            { value: "member", label: "Member: records and shares" },
            { value: "viewer", label: "Viewer: sees, changes nothing" },
            { value: "admin", label: "Admin: decides about everything" },
          ]}
          value={role}
          onChange={(value) => setRole((value ?? "member") as Role)}
          error={faults.role}
        />
        {teams.length === 0 ? null : (
          <MultiSelect
            label="Teams"
            placeholder={teamIds.length === 0 ? "None" : ""}
            data={teams.map(({ id, name }) => ({ value: id, label: name }))}
            value={teamIds}
            onChange={setTeamIds}
            error={faults.team_ids}
          />
        )}
        <FormError error={send.error} fields={["name", "email", "role", "team_ids"]} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={send.isPending}>
            Make invitation
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

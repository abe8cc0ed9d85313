import { MultiSelect, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  invite,
  managedUsersQuery,
  type OneTimeLink,
  type Role,
  teamMembersQuery,
} from "../../api/settings/users.ts";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";
import { Form, useForm } from "../../common/forms/form.tsx";

interface InviteProps {
  opened: boolean;
  onClose: () => void;
  onInvited: (title: string, link: OneTimeLink) => void;
}

/** Invites a user, and returns the one-time link. */
export function Invite({ opened, onClose, onInvited }: InviteProps) {
  return (
    <FormDialog opened={opened} onClose={onClose} title="Invite someone" centered>
      <InviteForm onClose={onClose} onInvited={onInvited} />
    </FormDialog>
  );
}

function InviteForm({ onClose, onInvited }: Omit<InviteProps, "opened">) {
  const teams = useQuery(teamMembersQuery).data?.teams ?? [];
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("member");
  const [teamIds, setTeamIds] = useState<string[]>([]);
  const send = useForm({
    run: () => invite({ name, email, role, team_ids: teamIds }),
    refresh: [managedUsersQuery.queryKey, teamMembersQuery.queryKey],
    onDone: ({ user, invitation }) => onInvited(`Invitation for ${user.name}`, invitation),
  });
  return (
    <Form form={send} label="Create invitation" onCancel={onClose}>
      <TextInput
        label="Name"
        required
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={send.errorOf("name")}
      />
      <TextInput
        label="Email"
        type="email"
        required
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        error={send.errorOf("email")}
      />
      <Select
        label="Role"
        allowDeselect={false}
        data={[
          { value: "member", label: "Member: can record and share" },
          { value: "viewer", label: "Viewer: read-only" },
          { value: "admin", label: "Admin: full control" },
        ]}
        value={role}
        onChange={(value) => setRole((value ?? "member") as Role)}
        error={send.errorOf("role")}
      />
      {teams.length === 0 ? null : (
        <MultiSelect
          label="Teams"
          placeholder={teamIds.length === 0 ? "None" : ""}
          data={teams.map(({ id, name }) => ({ value: id, label: name }))}
          value={teamIds}
          onChange={setTeamIds}
          error={send.errorOf("team_ids")}
        />
      )}
    </Form>
  );
}

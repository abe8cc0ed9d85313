import { useLingui } from "@lingui/react/macro";
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
  const { t } = useLingui();
  return (
    <FormDialog opened={opened} onClose={onClose} title={t`Invite someone`} centered>
      <InviteForm onClose={onClose} onInvited={onInvited} />
    </FormDialog>
  );
}

function InviteForm({ onClose, onInvited }: Omit<InviteProps, "opened">) {
  const { t } = useLingui();
  const teams = useQuery(teamMembersQuery).data?.teams ?? [];
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("member");
  const [teamIds, setTeamIds] = useState<string[]>([]);
  const send = useForm({
    run: () => invite({ name, email, role, team_ids: teamIds }),
    refresh: [managedUsersQuery.queryKey, teamMembersQuery.queryKey, ["directory"]],
    onDone: ({ user, invitation }) => onInvited(t`Invitation for ${{ name: user.name }}`, invitation),
  });
  return (
    <Form form={send} label={t`Create invitation`} onCancel={onClose}>
      <TextInput
        label={t`Name`}
        required
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={send.errorOf("name")}
      />
      <TextInput
        label={t`Email`}
        type="email"
        required
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        error={send.errorOf("email")}
      />
      <Select
        label={t`Role`}
        allowDeselect={false}
        data={[
          { value: "member", label: t`Member: can record and share` },
          { value: "viewer", label: t`Viewer: read-only` },
          { value: "admin", label: t`Admin: full control` },
        ]}
        value={role}
        onChange={(value) => setRole((value ?? "member") as Role)}
        error={send.errorOf("role")}
      />
      {teams.length === 0 ? null : (
        <MultiSelect
          label={t`Teams`}
          placeholder={teamIds.length === 0 ? t({ context: "teams", message: "None" }) : ""}
          data={teams.map(({ id, name }) => ({ value: id, label: name }))}
          value={teamIds}
          onChange={setTeamIds}
          error={send.errorOf("team_ids")}
        />
      )}
    </Form>
  );
}

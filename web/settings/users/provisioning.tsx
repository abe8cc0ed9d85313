import { plural, t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  createScimToken,
  revokeScimToken,
  type ScimToken,
  scimTokensQuery,
} from "../../api/settings/scim.ts";
import { managedUsersQuery } from "../../api/settings/users.ts";
import { SecretDialog } from "../../common/dialogs/secret-dialog.tsx";
import { CopyField } from "../../common/dialogs/secret-once.tsx";
import { namesInLine } from "../../common/format/names.ts";
import { whenInLine } from "../../common/format/time.ts";
import { ConfirmButton } from "../../common/forms/confirm.tsx";
import { Form, useForm } from "../../common/forms/form.tsx";
import { Loaded, NoneYet, Row, Rows, SettingsPage } from "../parts.tsx";

/** Tokens with which identity providers manage users and teams. */
export function ProvisioningPage() {
  const { t } = useLingui();
  const tokens = useQuery(scimTokensQuery);
  const [opened, { open, close }] = useDisclosure();
  return (
    <SettingsPage
      title={t`Provisioning`}
      lead={t`An identity provider such as Microsoft Entra ID or Okta creates, changes and deactivates users by SCIM 2.0. Its groups become teams.`}
      action={
        <Button leftSection={<IconPlus size={18} />} onClick={open}>
          <Trans>Create SCIM token</Trans>
        </Button>
      }
    >
      <Loaded query={tokens}>
        {({ url, tokens }) => (
          <Stack gap="lg">
            <CopyField label={t`URL for the provider`} value={url} />
            {tokens.length === 0 ? (
              <NoneYet>
                <Trans>No SCIM tokens yet.</Trans>
              </NoneYet>
            ) : (
              <Rows label={t`SCIM tokens`}>
                {tokens.map((token) => (
                  <TokenRow key={token.id} token={token} />
                ))}
              </Rows>
            )}
          </Stack>
        )}
      </Loaded>
      <NewToken opened={opened} onClose={close} />
    </SettingsPage>
  );
}

function TokenRow({ token }: { token: ScimToken }) {
  const { t } = useLingui();
  const users = useQuery(managedUsersQuery).data?.users ?? [];
  const owner = users.find(({ id }) => id === token.created_by)?.name;
  const { name } = token;
  return (
    <Row
      title={name}
      facts={[
        token.created_by === null
          ? t`created on the command line`
          : owner === undefined
            ? t`ends with the admin who created it`
            : t`ends with the admin who created it: ${owner}`,
        t`created ${{ time: whenInLine(token.created_datetime) }}`,
        token.last_used_datetime === null
          ? t`never used`
          : t`last used ${{ time: whenInLine(token.last_used_datetime) }}`,
        notStored(token),
      ]}
      actions={
        <ConfirmButton
          text={t`Revoke`}
          button={{ "aria-label": t`Revoke ${name}` }}
          title={t`Revoke ${name}?`}
          label={t`Revoke token`}
          run={() => revokeScimToken(token.id)}
          done={t`${name} revoked.`}
          refresh={[scimTokensQuery.queryKey]}
        >
          <Trans>
            The provider can no longer change users and teams. They stay as they are. This can't be undone.
          </Trans>
        </ConfirmButton>
      }
    />
  );
}

/** Which attributes the provider sends that Parley doesn't store; null: none. */
function notStored({ ignored_attributes }: ScimToken): string | null {
  const names = Object.entries(ignored_attributes)
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => {
      const attribute = shortName(name);
      return plural(count, { one: `${attribute} (# request)`, other: `${attribute} (# requests)` });
    });
  return names.length === 0 ? null : t`not stored: ${{ attributes: namesInLine(names, names.length) }}`;
}

/** An attribute without the URN of its schema. */
function shortName(name: string): string {
  return name.slice(name.lastIndexOf(":") + 1);
}

function NewToken({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useLingui();
  return (
    <SecretDialog
      opened={opened}
      onClose={onClose}
      title={t`Create SCIM token`}
      createdTitle={t`SCIM token created`}
      label={t`SCIM token`}
      form={({ created, cancel }) => <TokenForm onCreated={created} onCancel={cancel} />}
    >
      <Trans>
        Enter it at the provider with the URL of this page: in Entra as the secret token, in Okta as the HTTP
        header.
      </Trans>
    </SecretDialog>
  );
}

function TokenForm({ onCreated, onCancel }: { onCreated: (token: string) => void; onCancel: () => void }) {
  const { t } = useLingui();
  const [name, setName] = useState("");
  const create = useForm({
    run: () => createScimToken(name),
    refresh: [scimTokensQuery.queryKey],
    onDone: ({ token }) => onCreated(token),
  });
  return (
    <Form form={create} label={t`Create token`} isDisabled={name.trim() === ""} onCancel={onCancel}>
      <TextInput
        label={t`Provider`}
        description={t`To recognize the token later.`}
        placeholder={t`Microsoft Entra ID`}
        required
        data-autofocus
        maxLength={200}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={create.errorOf("name")}
      />
      <Text size="sm" c="dimmed">
        <Trans>
          The token can create, change, deactivate and reactivate users and manage its own teams, and nothing
          else. It ends when you are no longer an admin.
        </Trans>
      </Text>
    </Form>
  );
}

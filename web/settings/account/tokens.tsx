import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Radio, SegmentedControl, Select, Stack, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { usersQuery } from "../../api/directory.ts";
import { createToken, revokeToken, type Token, tokensQuery } from "../../api/settings/account.ts";
import { SecretDialog } from "../../common/dialogs/secret-dialog.tsx";
import { whenInLine } from "../../common/format/time.ts";
import { ConfirmButton } from "../../common/forms/confirm.tsx";
import { Form, useForm } from "../../common/forms/form.tsx";
import {
  CompatibilityFields,
  type CompatibilityValue,
  chosen,
  compatibilityErrors,
  compatibilityFacts,
} from "../compatibility-fields.tsx";
import { Loaded, NoneYet, Row, Rows, SettingsPage, Tag } from "../parts.tsx";

const parent = getRouteApi("/signed-in");

/** Access tokens for the API. */
export function TokensPage() {
  const { t } = useLingui();
  const { session } = parent.useRouteContext();
  const isAdmin = session.user.role === "admin";
  const [of, setOf] = useState<"me" | "workspace">("me");
  const tokens = useQuery(tokensQuery(of));
  const [opened, { open, close }] = useDisclosure();
  return (
    <SettingsPage
      title={t`Access tokens`}
      lead={t`Let scripts and tools use the API as you or the workspace.`}
      action={
        <Button leftSection={<IconPlus size={18} />} onClick={open}>
          <Trans>Create token</Trans>
        </Button>
      }
    >
      {isAdmin ? (
        <Group>
          <SegmentedControl
            size="xs"
            aria-label={t`Owner`}
            value={of}
            onChange={(value) => setOf(value === "workspace" ? "workspace" : "me")}
            data={[
              { value: "me", label: t`Mine` },
              { value: "workspace", label: t`Workspace` },
            ]}
          />
        </Group>
      ) : null}
      <Loaded query={tokens}>
        {({ tokens }) =>
          tokens.length === 0 ? (
            <NoneYet>
              <Trans>No tokens yet.</Trans>
            </NoneYet>
          ) : (
            <Rows label={t`Access tokens`}>
              {tokens.map((token) => (
                <TokenRow key={token.id} token={token} showsOwner={of === "workspace"} />
              ))}
            </Rows>
          )
        }
      </Loaded>
      <NewToken opened={opened} onClose={close} isAdmin={isAdmin} />
    </SettingsPage>
  );
}

const kinds = {
  personal_access_token: msg`Personal`,
  workspace_access_token: msg`Workspace`,
  oauth: msg`App`,
} as const;

function TokenRow({ token, showsOwner }: { token: Token; showsOwner: boolean }) {
  const { t } = useLingui();
  const users = useQuery({ ...usersQuery, enabled: showsOwner });
  const owner = users.data?.users.find(({ id }) => id === token.user_id)?.name;
  const isOver = token.expires_at !== null && Date.parse(token.expires_at) < Date.now();
  const { name } = token;
  return (
    <Row
      title={name}
      badges={
        <>
          <Tag tone={token.type === "workspace_access_token" ? "warn" : "accent"}>{t(kinds[token.type])}</Tag>
          {isOver ? (
            <Tag tone="bad">
              <Trans>Expired</Trans>
            </Tag>
          ) : null}
        </>
      }
      facts={[
        showsOwner && owner !== undefined ? t`owner: ${owner}` : null,
        t`created ${{ time: whenInLine(token.created_datetime) }}`,
        token.last_used_datetime === null
          ? t`never used`
          : t`last used ${{ time: whenInLine(token.last_used_datetime) }}`,
        expiry(token.expires_at, isOver),
        ...compatibilityFacts(token),
      ]}
      actions={
        <ConfirmButton
          text={t`Revoke`}
          button={{ "aria-label": t`Revoke ${name}` }}
          title={t`Revoke ${name}?`}
          label={t`Revoke token`}
          run={() => revokeToken(token.id)}
          done={t`${name} revoked.`}
          refresh={[["tokens"], ["hooks"]]}
        >
          <Trans>
            Requests with this token are refused immediately. Tokens created with it are also revoked, and
            webhooks created with any of them are disabled. This can't be undone.
          </Trans>
        </ConfirmButton>
      }
    />
  );
}

function expiry(expiresAt: string | null, isOver: boolean): string {
  if (expiresAt === null) return t`does not expire`;
  const time = whenInLine(expiresAt);
  return isOver ? t`expired ${time}` : t`expires ${time}`;
}

const dayMs = 86_400_000;
const lifetimes: readonly { readonly value: string; readonly label: MessageDescriptor }[] = [
  { value: "30", label: msg`30 days` },
  { value: "90", label: msg`90 days` },
  { value: "365", label: msg`1 year` },
  { value: "", label: msg`Never` },
];

interface NewTokenProps {
  opened: boolean;
  onClose: () => void;
  isAdmin: boolean;
}

function NewToken({ opened, onClose, isAdmin }: NewTokenProps) {
  const { t } = useLingui();
  return (
    <SecretDialog
      opened={opened}
      onClose={onClose}
      title={t`Create access token`}
      createdTitle={t`Token created`}
      label={t`Token`}
      form={({ created, cancel }) => <TokenForm isAdmin={isAdmin} onCreated={created} onCancel={cancel} />}
    >
      <Trans>
        Send it as <code>Authorization: Bearer …</code>
      </Trans>
    </SecretDialog>
  );
}

function TokenForm(props: { isAdmin: boolean; onCreated: (token: string) => void; onCancel: () => void }) {
  const { t } = useLingui();
  const { isAdmin, onCreated, onCancel } = props;
  const [name, setName] = useState("");
  const [type, setType] = useState<"personal_access_token" | "workspace_access_token">(
    "personal_access_token",
  );
  const [days, setDays] = useState<string>("90");
  const [compatibility, setCompatibility] = useState<CompatibilityValue>({
    datetime_filters: null,
    compatibility: null,
  });
  const create = useForm({
    run: () =>
      createToken({
        name,
        type,
        ...chosen(compatibility),
        ...(days === "" ? {} : { expires_at: new Date(Date.now() + Number(days) * dayMs).toISOString() }),
      }),
    refresh: [["tokens"]],
    onDone: ({ token }) => onCreated(token),
  });
  return (
    <Form form={create} label={t`Create token`} onCancel={onCancel}>
      <TextInput
        label={t`Name`}
        description={t`What this token is for`}
        placeholder={t`Nightly export`}
        required
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={create.errorOf("name")}
      />
      {isAdmin ? (
        <Radio.Group
          label={t`Access`}
          value={type}
          onChange={(value) => setType(value as typeof type)}
          error={create.errorOf("type")}
        >
          <Stack gap="xs" mt={6}>
            <Radio
              value="personal_access_token"
              label={t`Personal`}
              description={t`Everything you can access, as you`}
            />
            <Radio
              value="workspace_access_token"
              label={t`Workspace`}
              description={t`All recordings in the workspace`}
            />
          </Stack>
        </Radio.Group>
      ) : null}
      <Select
        label={t`Expires in`}
        allowDeselect={false}
        data={lifetimes.map(({ value, label }) => ({ value, label: t(label) }))}
        value={days}
        onChange={(value) => setDays(value ?? "")}
        error={create.errorOf("expires_at")}
      />
      <CompatibilityFields
        value={compatibility}
        onChange={(change) => setCompatibility((before) => ({ ...before, ...change }))}
        errors={compatibilityErrors(create)}
        canClear
      />
    </Form>
  );
}

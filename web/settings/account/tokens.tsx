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
  const { session } = parent.useRouteContext();
  const isAdmin = session.user.role === "admin";
  const [of, setOf] = useState<"me" | "workspace">("me");
  const tokens = useQuery(tokensQuery(of));
  const [opened, { open, close }] = useDisclosure();
  return (
    <SettingsPage
      title="Access tokens"
      lead="Let scripts and tools use the API as you or the workspace."
      action={
        <Button leftSection={<IconPlus size={18} />} onClick={open}>
          {" "}
          Create token{" "}
        </Button>
      }
    >
      {isAdmin ? (
        <Group>
          <SegmentedControl
            size="xs"
            aria-label="Owner"
            value={of}
            onChange={(value) => setOf(value === "workspace" ? "workspace" : "me")}
            data={[
              { value: "me", label: "Mine" },
              { value: "workspace", label: "Workspace" },
            ]}
          />
        </Group>
      ) : null}
      <Loaded query={tokens}>
        {({ tokens }) =>
          tokens.length === 0 ? (
            <NoneYet>No tokens yet.</NoneYet>
          ) : (
            <Rows label="Access tokens">
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
  personal_access_token: "Personal",
  workspace_access_token: "Workspace",
  oauth: "App",
} as const;

function TokenRow({ token, showsOwner }: { token: Token; showsOwner: boolean }) {
  const users = useQuery({ ...usersQuery, enabled: showsOwner });
  const owner = users.data?.users.find(({ id }) => id === token.user_id)?.name;
  const isOver = token.expires_at !== null && Date.parse(token.expires_at) < Date.now();
  return (
    <Row
      title={token.name}
      badges={
        <>
          <Tag tone={token.type === "workspace_access_token" ? "warn" : "accent"}>{kinds[token.type]}</Tag>
          {isOver ? <Tag tone="bad">Expired</Tag> : null}
        </>
      }
      facts={[
        showsOwner && owner !== undefined ? `owner: ${owner}` : null,
        `created ${whenInLine(token.created_datetime)}`,
        token.last_used_datetime === null
          ? "never used"
          : `last used ${whenInLine(token.last_used_datetime)}`,
        token.expires_at === null
          ? "does not expire"
          : `${isOver ? "expired" : "expires"} ${whenInLine(token.expires_at)}`,
        ...compatibilityFacts(token),
      ]}
      actions={
        <ConfirmButton
          text="Revoke"
          button={{ "aria-label": `Revoke ${token.name}` }}
          title={`Revoke ${token.name}?`}
          label="Revoke token"
          run={() => revokeToken(token.id)}
          done={`${token.name} revoked.`}
          refresh={[["tokens"], ["hooks"]]}
        >
          Requests with this token are refused immediately. Tokens created with it are also revoked, and
          webhooks created with any of them are disabled. This can't be undone.
        </ConfirmButton>
      }
    />
  );
}

const dayMs = 86_400_000;
const lifetimes = [
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "1 year" },
  { value: "", label: "Never" },
];

interface NewTokenProps {
  opened: boolean;
  onClose: () => void;
  isAdmin: boolean;
}

function NewToken({ opened, onClose, isAdmin }: NewTokenProps) {
  return (
    <SecretDialog
      opened={opened}
      onClose={onClose}
      title="Create access token"
      createdTitle="Token created"
      label="Token"
      form={({ created, cancel }) => <TokenForm isAdmin={isAdmin} onCreated={created} onCancel={cancel} />}
    >
      Send it as <code>Authorization: Bearer …</code>
    </SecretDialog>
  );
}

function TokenForm(props: { isAdmin: boolean; onCreated: (token: string) => void; onCancel: () => void }) {
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
    <Form form={create} label="Create token" onCancel={onCancel}>
      <TextInput
        label="Name"
        description="What this token is for"
        placeholder="Nightly export"
        required
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={create.errorOf("name")}
      />
      {isAdmin ? (
        <Radio.Group
          label="Access"
          value={type}
          onChange={(value) => setType(value as typeof type)}
          error={create.errorOf("type")}
        >
          <Stack gap="xs" mt={6}>
            <Radio
              value="personal_access_token"
              label="Personal"
              description="Everything you can access, as you"
            />
            <Radio
              value="workspace_access_token"
              label="Workspace"
              description="All recordings in the workspace"
            />
          </Stack>
        </Radio.Group>
      ) : null}
      <Select
        label="Expires in"
        allowDeselect={false}
        data={lifetimes}
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

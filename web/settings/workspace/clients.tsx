import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  type Client,
  clientsQuery,
  deleteClient,
  rotateClientSecret,
} from "../../api/settings/oauth-clients.ts";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";
import { CopyField, SecretOnce } from "../../common/dialogs/secret-once.tsx";
import { namesInSentence } from "../../common/format/names.ts";
import { whenInLine } from "../../common/format/time.ts";
import { ConfirmButton } from "../../common/forms/confirm.tsx";
import { LoadMore } from "../../common/lists/load-more.tsx";
import { ErrorState } from "../../common/states.tsx";
import { compatibilityFacts } from "../compatibility-fields.tsx";
import { Grants } from "../grants.tsx";
import { NoneYet, Row, Rows, RowsSkeleton, Section, SettingsPage, Tag } from "../parts.tsx";
import { ClientForm } from "./client-form.tsx";
import { SelfRegisteredApps } from "./self-registered-apps.tsx";

/** An app with its secret, shown once; null for public apps. */
interface Shown {
  readonly client: Client;
  readonly secret: string | null;
}

/** Apps that can request access to users' accounts. */
export function ClientsPage() {
  const { t } = useLingui();
  const [opened, { open, close }] = useDisclosure();
  const [shown, setShown] = useState<Shown | null>(null);
  return (
    <SettingsPage
      title={t`OAuth clients`}
      lead={t`Apps that can request access with OAuth 2.0.`}
      action={
        <Button leftSection={<IconPlus size={18} />} onClick={open}>
          <Trans>Create app</Trans>
        </Button>
      }
    >
      <Clients show={setShown} />
      <SelfRegisteredApps />
      <Section title={t`Connected apps`} lead={t`Apps that members have authorized to act for them.`}>
        <Grants of="workspace" />
      </Section>
      <FormDialog opened={opened} onClose={close} title={t`Create app`} centered>
        <ClientForm
          onSaved={(client, secret) => {
            close();
            setShown({ client, secret });
          }}
          onCancel={close}
        />
      </FormDialog>
      <FormDialog opened={shown !== null} onClose={() => setShown(null)} title={shown?.client.name} centered>
        {shown === null ? null : <Credentials {...shown} onDone={() => setShown(null)} />}
      </FormDialog>
    </SettingsPage>
  );
}

function Credentials({ client, secret, onDone }: Shown & { onDone: () => void }) {
  const { t } = useLingui();
  if (secret !== null)
    return (
      <SecretOnce label={t`Client secret`} value={secret} onDone={onDone}>
        <CopyField label={t`Client ID`} value={client.client_id} />
      </SecretOnce>
    );
  return (
    <Stack>
      <Text size="sm">
        <Trans>Public apps have no secret and use PKCE.</Trans>
      </Text>
      <CopyField label={t`Client ID`} value={client.client_id} />
      <Group justify="flex-end">
        <Button variant="default" onClick={onDone}>
          <Trans>Done</Trans>
        </Button>
      </Group>
    </Stack>
  );
}

function Clients({ show }: { show: (shown: Shown) => void }) {
  const { t } = useLingui();
  const query = useInfiniteQuery(clientsQuery);
  if (query.isPending) return <RowsSkeleton />;
  if (query.data === undefined) return <ErrorState error={query.error} retry={() => query.refetch()} />;
  const clients = query.data.pages.flatMap(({ clients }) => clients);
  if (clients.length === 0)
    return (
      <NoneYet>
        <Trans>No apps yet.</Trans>
      </NoneYet>
    );
  return (
    <div>
      <Rows label={t`OAuth clients`}>
        {clients.map((client) => (
          <ClientRow key={client.client_id} client={client} show={show} />
        ))}
      </Rows>
      <LoadMore query={query} />
    </div>
  );
}

const dayInSec = 86_400;

function ClientRow({ client, show }: { client: Client; show: (shown: Shown) => void }) {
  const { t } = useLingui();
  const [edits, { open, close }] = useDisclosure();
  const { name } = client;
  return (
    <Row
      title={name}
      badges={
        <>
          <Tag>
            {client.public
              ? t({ context: "OAuth client", message: "Public" })
              : t({ context: "OAuth client", message: "Confidential" })}
          </Tag>
          {client.legacy ? (
            <Tag tone="warn">
              <Trans>Legacy</Trans>
            </Tag>
          ) : null}
        </>
      }
      facts={[
        client.client_id,
        client.redirect_uris.join(", "),
        client.cors_origins.length === 0
          ? null
          : t`from ${{ origins: namesInSentence(client.cors_origins) }}`,
        client.previous_secret_until === null
          ? null
          : t`old secret works until ${{ time: whenInLine(client.previous_secret_until) }}`,
        ...compatibilityFacts(client),
      ]}
      actions={
        <>
          <Button variant="subtle" size="compact-sm" aria-label={t`Edit ${name}`} onClick={open}>
            <Trans>Edit</Trans>
          </Button>
          {client.public ? null : (
            <ConfirmButton
              text={t`New secret`}
              button={{ color: "indigo", "aria-label": t`New secret for ${name}` }}
              title={t`A new secret for ${name}?`}
              label={t`Create secret`}
              isHarmless
              run={async () => {
                const { client_secret } = await rotateClientSecret(client.client_id, dayInSec);
                show({ client, secret: client_secret });
              }}
              done={t`New secret created.`}
              refresh={[clientsQuery.queryKey]}
            >
              <Trans>
                The new secret works now; the current one works for 24 h. Any older secret stops working
                immediately.
              </Trans>
            </ConfirmButton>
          )}
          <ConfirmButton
            text={t`Delete`}
            button={{ "aria-label": t`Delete ${name}` }}
            title={t`Delete ${name}?`}
            label={t`Delete app`}
            run={() => deleteClient(client.client_id)}
            done={t`${name} deleted.`}
            refresh={[clientsQuery.queryKey]}
          >
            <Trans>All its tokens stop working immediately, for everyone. This can't be undone.</Trans>
          </ConfirmButton>
        </>
      }
    >
      <FormDialog opened={edits} onClose={close} title={t`Edit ${name}`} centered>
        <ClientForm client={client} onSaved={close} onCancel={close} />
      </FormDialog>
    </Row>
  );
}
